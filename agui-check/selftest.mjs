// Runs check.mjs over every fixture and compares with what was recorded; --record writes that anew, --json prints everything.
import { serve, cases } from "./fixtures.mjs";
import { spawn } from "node:child_process";
import fs from "node:fs";
const s = await serve(); const base = `http://127.0.0.1:${s.address().port}`;
const run = (args) => new Promise((r) => { const p = spawn(process.execPath, ["check.mjs", ...args], { cwd: import.meta.dirname }); let o = ""; p.stdout.on("data", (d) => (o += d)); p.stderr.on("data", (d) => (o += d)); p.on("close", (code) => r({ code, lines: o.trim().split("\n").map((l) => { try { return JSON.parse(l); } catch { return { raw: l }; } }) })); });
const rows = [];
const jobs = [...Object.keys(cases).map((c) => [c, [`${base}/${c}`, ...(c === "approval" ? ["--resume", "approve"] : [])]]), ["approval(deny)", [`${base}/approval`, "--resume", "deny"]], ["approval(cancel)", [`${base}/approval`, "--resume", "cancel"]], ["approval(no resume)", [`${base}/approval`]], ["good(proto)", [`${base}/good`, "--proto"]], ["extrafield(strict)", [`${base}/extrafield`, "--strict"]], ["charset+event/id lines", [`${base}/charset`]], ["crlf framing", [`${base}/crlf`]], ["http500", [`${base}/http500`]], ["404", [`${base}/nothere`]]];
for (const [name, args] of jobs) { const { code, lines } = await run([...args, "--timeout", "5000"]); const sum = lines.find((l) => l.kind === "summary") ?? {}; rows.push({ case: name, exit: code, ok: sum.ok, outcomes: sum.outcomes, errors: (sum.errors ?? []).map((e) => `${e.stage}: ${e.message.slice(0, 170)}`), stripped: (sum.stripped ?? []).map((x) => x.eventType + x.path), dropped: sum.dropped, shims: sum.legacyShims, toolCalls: sum.toolCalls, messages: lines.find((l) => l.kind === "messages")?.messages }); }
s.close();
// What is compared: everything but ids and the words of the client's own messages.
const kept = rows.map((r) => ({ case: r.case, exit: r.exit, outcomes: r.outcomes, errors: r.errors.map((e) => e.split(":")[0]), stripped: r.stripped, dropped: r.dropped, shims: r.shims }));
const recorded = new URL("selftest-output.json", import.meta.url);
if (process.argv.includes("--json")) console.log(JSON.stringify(rows, null, 1));
else if (process.argv.includes("--record")) fs.writeFileSync(recorded, `[\n${kept.map((r) => "  " + JSON.stringify(r)).join(",\n")}\n]\n`);
else {
  const wanted = JSON.parse(fs.readFileSync(recorded, "utf8"));
  let wrong = kept.length === wanted.length ? 0 : 1;
  for (const [i, r] of kept.entries()) {
    const same = JSON.stringify(r) === JSON.stringify(wanted[i]);
    if (!same) wrong++;
    console.log(`${same ? "ok    " : "OTHER "} ${String(r.exit).padEnd(2)} ${r.case.padEnd(24)} ${JSON.stringify(r.outcomes)} ${rows[i].errors.join(" | ")}${r.stripped.length ? " stripped=" + r.stripped : ""}${r.dropped?.length ? " dropped=" + r.dropped : ""}${r.shims ? " shims=" + r.shims : ""}${same ? "" : `\n        recorded: ${JSON.stringify(wanted[i])}`}`);
  }
  console.log(`${kept.length} streams, ${wrong} other than recorded`);
  process.exitCode = wrong ? 1 : 0;
}
