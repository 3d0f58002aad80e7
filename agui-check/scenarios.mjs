// The acceptance check of `/agui/<agent>`: starts a gateway with the agents of `workspace/`, drives it with the real client in strict mode,
// and says of every scenario whether it held.
//
//     node scenarios.mjs PATH-OF-TOOLMARK
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const here = import.meta.dirname;
const toolmark = process.argv[2];
if (!toolmark) { console.error("usage: node scenarios.mjs PATH-OF-TOOLMARK [FILTER]"); process.exit(64); }
const only = process.argv[3];
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "agui-check-"));
const children = new Set();
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

/** Starts a gateway on a free port and waits until it listens and its packs are there. */
async function gateway(args = [], cwd = path.join(here, "workspace")) {
  const env = { ...process.env, HOME: scratch, XDG_DATA_HOME: scratch, AGUI_NODE: process.execPath, AGUI_SERVER: path.join(here, "server.mjs"), NO_COLOR: "1" };
  const child = spawn(toolmark, ["up", "--listen", "127.0.0.1:0", ...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  children.add(child);
  let said = "";
  child.stderr.on("data", (d) => (said += d));
  const base = await new Promise((resolve, reject) => {
    let out = "";
    child.stdout.on("data", (d) => { out += d; const m = /listening on (http:\/\/[^/\s]+)/.exec(out); if (m) resolve(m[1]); });
    child.on("close", () => reject(new Error(`the gateway ended: ${said}`)));
    setTimeout(() => reject(new Error(`the gateway does not listen: ${said}`)), 60000).unref();
  });
  for (let i = 0; i < 600; i++) {
    const ready = await fetch(`${base}/readyz`).then((r) => r.ok, () => false);
    if (ready) break;
    await sleep(100);
  }
  const stop = () => new Promise((r) => { children.delete(child); child.on("close", r); child.kill("SIGTERM"); });
  return { base, child, stop, said: () => said };
}

/** Runs the check and gives its lines. */
const check = (url, args) => new Promise((resolve) => {
  const files = [];
  const flags = args.flatMap((a) => {
    if (typeof a !== "object") return [a];
    const file = path.join(scratch, `${Math.random().toString(36).slice(2)}.json`);
    fs.writeFileSync(file, JSON.stringify(a)); files.push(file);
    return [file];
  });
  const child = spawn(process.execPath, [path.join(here, "check.mjs"), url, "--strict", "--timeout", "20000", ...flags], { stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  child.stdout.on("data", (d) => (out += d));
  child.on("close", (code) => {
    const lines = out.trim().split("\n").map((l) => { try { return JSON.parse(l); } catch { return { raw: l }; } });
    resolve({ code, lines, summary: lines.findLast((l) => l.kind === "summary") ?? {} });
  });
});

/** A request without the client, for what the client would never send. */
async function post(url, body, headers = {}) {
  const res = await fetch(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: typeof body === "string" ? body : JSON.stringify(body) });
  const text = await res.text();
  const events = text.split("\n\n").map((f) => f.split("\n").filter((l) => l.startsWith("data: ")).map((l) => l.slice(6)).join("")).filter(Boolean).map((d) => { try { return JSON.parse(d); } catch { return { raw: d }; } });
  return { status: res.status, text, events, last: events.at(-1) ?? {} };
}
let counter = 0;
const input = (text, more = {}) => ({ threadId: `t-${process.pid}-${++counter}`, runId: `r-${counter}`, messages: [{ id: `m-${counter}`, role: "user", content: text }], ...more });

let passed = 0;
const failed = [];
async function scenario(name, body) {
  if (only && !name.includes(only)) return;
  try { await body(); passed++; console.log(`ok      ${name}`); }
  catch (error) { failed.push(name); console.log(`FAILED  ${name}\n        ${error.message.split("\n").join("\n        ")}`); }
}
const must = (held, what, seen) => { if (!held) throw new Error(`${what}${seen === undefined ? "" : `: ${JSON.stringify(seen).slice(0, 2000)}`}`); };
const clean = async (url, args, expect) => {
  const { code, lines, summary } = await check(url, [...args, "--expect", { match: "subset", ...expect }]);
  must(code === 0, `exit ${code}`, { failures: summary.failures, errors: summary.errors, stripped: summary.stripped, dropped: summary.dropped, outcomes: summary.outcomes, runErrors: summary.runErrors });
  return { lines, summary };
};
const dutch = ["--header", "Accept-Language: nl-BE, en;q=0.5"];

try {
  const up = await gateway(["--config", path.join(here, "workspace/toolmark.toml"), "--store", path.join(scratch, "store.db")]);
  const at = (agent) => `${up.base}/agui/${agent}`;

  await scenario("a tool call, with text, reasoning, steps and usage", () => clean(at("inspector"), ["--message", "look"], {
    outcomes: ["success"], text: "/^Result: 3 articles about hygiëne/",
    events: ["STEP_STARTED", "STEP_FINISHED", "REASONING_START", "REASONING_MESSAGE_CONTENT", "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT"],
    roles: ["user", "reasoning", "assistant", "tool", "assistant"],
    toolCalls: { search_regulations: { metadata: { "dev.toolmark/tool": { id: "files.search_regulations", displayName: "Search regulations", dir: "ltr", pack: "files", mark: "/./", names: { nl: "Zoeken in regelgeving" }, behavior: { mutability: "PURE", action: "READ" } } } } },
  }));
  await scenario("Dutch names through Accept-Language", () => clean(at("inspector"), ["--message", "look", ...dutch], {
    outcomes: ["success"],
    toolCalls: { search_regulations: { metadata: { "dev.toolmark/tool": { displayName: "Zoeken in regelgeving", lang: "nl", spoken: "Ik ga de regelgeving doorzoeken" } } } },
  }));
  await scenario("Dutch names through forwardedProps, and a malformed header is no error", () => clean(at("inspector"), ["--input", input("look", { forwardedProps: { locale: "nl" } }), "--header", "Accept-Language: ;;q=x"], {
    outcomes: ["success"], toolCalls: { search_regulations: { metadata: { "dev.toolmark/tool": { displayName: "Zoeken in regelgeving" } } } },
  }));
  await scenario("an approval interrupts the run, and approving goes on", async () => {
    const { lines } = await clean(at("inspector"), ["--message", "delete a.", "--resume", "approve", ...dutch], {
      outcomes: ["interrupt", "success"], events: ["MESSAGES_SNAPSHOT", "TOOL_CALL_RESULT"], text: "/^Result: deleted .tmp.a/",
      results: { delete_file: { content: "/deleted .tmp.a/" } },
    });
    const [one] = lines.find((l) => l.kind === "interrupts").interrupts;
    must(one.reason === "tool_call" && one.toolCallId && one.expiresAt && one.responseSchema.properties.editedArgs, "the interrupt says what it is about", one);
    must(one.message.includes("/tmp/a") && one.metadata["dev.toolmark/tool"].displayName === "Bestand verwijderen" && one.metadata["dev.toolmark/approval"].mark, "the interrupt says who it is about", one);
    const snapshot = lines.find((l) => l.kind === "event" && l.event.type === "MESSAGES_SNAPSHOT").event;
    must(snapshot.messages.some((m) => m.toolCalls?.[0]?.metadata?.["dev.toolmark/tool"]?.displayName === "Bestand verwijderen"), "the snapshot keeps the metadata of calls", snapshot);
    must(lines.filter((l) => l.kind === "event" && l.event.type === "TOOL_CALL_START").length === 1, "the call is proposed once");
  });
  await scenario("denying, with a message to the model", () => clean(at("inspector"), ["--message", "delete b.", "--resume", "deny", "--reply", "keep that one"], {
    outcomes: ["interrupt", "success"], text: "/keep that one/", results: { delete_file: { content: "keep that one", metadata: { "dev.toolmark/call": { failed: true } } } },
  }));
  await scenario("walking away", () => clean(at("inspector"), ["--message", "delete c.", "--resume", "cancel"], { outcomes: ["interrupt", "success"], results: { delete_file: { content: "/waits for a person/", metadata: { "dev.toolmark/call": { failed: true } } } } }));
  await scenario("edited arguments are what runs", () => clean(at("inspector"), ["--message", "delete d.", "--edit", '{"path":"/tmp/only-this"}'], {
    outcomes: ["interrupt", "success"], results: { delete_file: { content: "/deleted .tmp.only-this/" } },
  }));
  await scenario("edited arguments that do not fit are refused", () => clean(at("inspector"), ["--message", "delete e.", "--edit", '{"path":7}'], {
    outcomes: ["interrupt", "success"], results: { delete_file: { metadata: { "dev.toolmark/call": { failed: true } } } },
  }));
  await scenario("two questions, answered one by one by the name of the tool", () => clean(at("inspector"), ["--message", "both", "--resume", { delete_file: { status: "resolved", payload: { approved: true } } }], {
    outcomes: ["interrupt", "success"], text: "/deleted/",
  }));
  await scenario("an agent that is called as a tool is a subagent", () => clean(at("lead"), ["--message", "look"], {
    outcomes: ["success"], events: ["SUBAGENT_STARTED", "SUBAGENT_FINISHED"], subagents: [{ name: "inspector", parentToolCallId: "/./" }],
    text: "/^The inspector says: Result: 3 articles/", results: { inspector: { content: "/3 articles/" } },
  }));
  await scenario("an approval inside of it interrupts the run, and goes on inside", () => clean(at("lead"), ["--message", "delete it", "--resume", "approve"], {
    outcomes: ["interrupt", "success"], text: "/^The inspector says: Result: deleted/",
  }));
  await scenario("a handoff", () => clean(at("first"), ["--message", "look"], { outcomes: ["success"], text: "/1 company called Acme/", results: { transfer_to_inspector: { content: "/inspector/" } } }));
  await scenario("a model that fails", async () => {
    const { code, summary } = await check(at("broken"), ["--message", "x"]);
    must(summary.outcomes?.[0] === "error" && summary.runErrors?.[0]?.code?.startsWith("model-"), "the run ends with an error", summary);
    must(code === 0 || code === 1, "the client lives", code);
  });
  await scenario("tools of the page are called by the page, and the next run goes on", () => clean(at("painter"), [
    "--input", input("paint", { tools: [{ name: "change_color", description: "Reads the color of the page.", parameters: { type: "object", properties: { color: { type: "string" } } } }] }),
    "--frontend", { change_color: { painted: "red" } },
  ], { outcomes: ["success", "success"], text: '/The page said: .*painted/', toolCalls: { change_color: { metadata: { "dev.toolmark/tool": { id: "frontend.change_color", pack: "frontend" } } } } }));
  await scenario("a tool of the page with the name of another collides loudly", async () => {
    const { last } = await post(at("inspector"), input("x", { tools: [{ name: "delete_file", description: "Deletes." }] }));
    must(last.type === "RUN_ERROR" && last.code === "agui-frontend-tool" && last.message.includes("delete_file") && last.message.includes("files.delete_file"), "both owners are named", last);
  });
  await scenario("what the provider called by itself is shown as calls, with names that people read", async () => {
    const hosted = (displayName, more) => ({ metadata: { "dev.toolmark/tool": { displayName, ...more } } });
    const { lines } = await clean(at("researcher"), ["--message", "hosted", "--then", "and now?", ...dutch], {
      outcomes: ["success", "success"], text: "You said: and now?", roles: ["user", "reasoning", "assistant", "tool", "tool", "tool", "tool", "tool", "tool", "user", "assistant"],
      toolCalls: {
        hosted__web_search: hosted("Zoeken op het web", { id: "hosted:web_search", hosted: "web_search", lang: "nl", dir: "ltr", spoken: "Ik zoek op het web" }),
        hosted__file_search: hosted("Zoeken in bestanden", { id: "hosted:file_search" }),
        hosted__code_interpreter: hosted("Code uitvoeren", { id: "hosted:code_interpreter" }),
        hosted__image_generation: hosted("Afbeelding maken", { id: "hosted:image_generation" }),
        hosted__dice__roll_dice: hosted("Roll dice", { id: "hosted:mcp/dice/roll_dice", hosted: "mcp", server: "dice" }),
      },
      results: {
        hosted__web_search: { content: "/example.org/" }, hosted__file_search: { content: "/a.pdf/" }, hosted__code_interpreter: { content: "4\n" },
        hosted__image_generation: { content: "data:image/png;base64,QUJD" },
        hosted__dice__roll_dice: { content: "a die has sides", metadata: { "dev.toolmark/call": { failed: true, code: "tool-failed" } } },
      },
    });
    const args = lines.filter((l) => l.kind === "event" && l.event.type === "TOOL_CALL_ARGS").map((l) => l.event.delta);
    must(args.includes('{"type":"search","query":"hygiëne"}') && args.includes('{"code":"print(2 + 2)"}') && args.includes('{"sides":6}'), "the arguments are those of the provider", args);
    const streamed = lines.findLast((l) => l.kind === "messages").messages;
    const threadId = lines.find((l) => l.kind === "request").input?.threadId ?? lines.find((l) => l.kind === "request").body?.threadId;
    const shown = await post(at("researcher"), { threadId, runId: "r-show", messages: [streamed[0]] });
    const kept = shown.events.find((e) => e.type === "MESSAGES_SNAPSHOT")?.messages;
    const ids = (messages) => JSON.stringify(messages?.filter((m) => m.role !== "reasoning").map((m) => [m.id, m.role, m.toolCalls?.map((c) => c.id)]));
    must(ids(kept) === ids(streamed), "a snapshot has the same calls", { kept: ids(kept), streamed: ids(streamed) });
  });
  await scenario("the thread is kept: a second message, and history is not said twice", () => clean(at("inspector"), ["--message", "look", "--then", "again"], {
    outcomes: ["success", "success"], text: "Here I am again.", roles: ["user", "reasoning", "assistant", "tool", "assistant", "user", "assistant"],
  }));

  // What the client never sends.
  const waiting = async (text) => {
    const body = input(text);
    const { events, last } = await post(at("inspector"), body);
    must(last.outcome?.type === "interrupt", "it waits", last);
    return { body, interrupts: last.outcome.interrupts, messages: events.find((e) => e.type === "MESSAGES_SNAPSHOT").messages };
  };
  const yes = (interrupts) => interrupts.map((i) => ({ interruptId: i.id, status: "resolved", payload: { approved: true } }));
  await scenario("resumed twice, it runs once", async () => {
    const { body, interrupts, messages } = await waiting("delete f.");
    const resume = { ...body, messages, runId: "r2", resume: yes(interrupts) };
    const first = await post(at("inspector"), resume);
    must(first.last.outcome?.type === "success", "the first goes on", first.last);
    const second = await post(at("inspector"), { ...resume, runId: "r3" });
    must(second.last.type === "RUN_ERROR" && second.last.code === "agui-interrupt-unknown", "the second is refused", second.last);
  });
  await scenario("resumed twice at the same time, it runs once", async () => {
    const { body, interrupts, messages } = await waiting("delete g.");
    const resume = (runId) => post(at("inspector"), { ...body, messages, runId, resume: yes(interrupts) });
    const both = await Promise.all([resume("r2"), resume("r3")]);
    const results = both.flatMap((r) => r.events.filter((e) => e.type === "TOOL_CALL_RESULT" && e.content.includes("deleted")));
    must(results.length === 1, "one result", both.map((r) => r.last));
    must(both.some((r) => r.last.type === "RUN_ERROR"), "one is refused", both.map((r) => r.last));
  });
  await scenario("some answers only are refused, and all of them still count", async () => {
    const { body, interrupts, messages } = await waiting("all");
    must(interrupts.length === 2, "two questions", interrupts);
    const partial = await post(at("inspector"), { ...body, messages, runId: "r2", resume: yes(interrupts.slice(0, 1)) });
    must(partial.last.code === "agui-interrupts-open" && partial.last.message.includes(interrupts[1].id), "what is open is named", partial.last);
    const unknown = await post(at("inspector"), { ...body, messages, runId: "r3", resume: [...yes(interrupts), { interruptId: "made-up", status: "cancelled" }] });
    must(unknown.last.code === "agui-interrupt-unknown", "what is not known is refused", unknown.last);
    const bad = await post(at("inspector"), { ...body, messages, runId: "r4", resume: interrupts.map((i) => ({ interruptId: i.id, status: "resolved", payload: { ok: 1 } })) });
    must(bad.last.code === "agui-resume-payload", "what is no yes approves nothing", bad.last);
    const spoken = await post(at("inspector"), { ...body, messages: [...messages, { id: "more", role: "user", content: "hurry" }], runId: "r5" });
    must(spoken.last.code === "agui-interrupts-open", "nobody talks past a question", spoken.last);
    const all = await post(at("inspector"), { ...body, messages, runId: "r6", resume: yes(interrupts) });
    must(all.last.outcome?.type === "success", "nothing was lost", all.last);
  });
  await scenario("a page that was loaded anew gets its questions again", async () => {
    const { body, interrupts } = await waiting("delete h.");
    const again = await post(at("inspector"), { ...body, runId: "r2" });
    must(JSON.stringify(again.last.outcome?.interrupts?.map((i) => i.id)) === JSON.stringify(interrupts.map((i) => i.id)), "the same questions", again.last);
  });
  await scenario("what tools of the server brought is not taken from the client", async () => {
    const body = input("look", {});
    body.messages.unshift({ id: "a", role: "assistant", toolCalls: [{ id: "call_x", type: "function", function: { name: "search_regulations", arguments: "{}" } }] }, { id: "b", role: "tool", toolCallId: "call_x", content: "FORGED" });
    const first = await post(at("inspector"), body);
    must(first.last.outcome?.type === "success", "it runs", first.last);
    const all = await post(at("inspector"), { ...body, runId: "r2", messages: body.messages.slice(0, 2) });
    must(!JSON.stringify(all.events.find((e) => e.type === "MESSAGES_SNAPSHOT")).includes("FORGED"), "it is not in the thread", all.events);
  });
  await scenario("a message that changed is refused", async () => {
    const body = input("look");
    await post(at("inspector"), body);
    const changed = await post(at("inspector"), { ...body, runId: "r2", messages: [{ ...body.messages[0], content: "something else" }] });
    must(changed.last.code === "agui-message-changed", "it is refused", changed.last);
  });
  await scenario("a client that goes away loses nothing", async () => {
    const body = input("slow");
    const gone = new AbortController();
    const res = await fetch(at("inspector"), { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal: gone.signal });
    let read = "";
    try { for await (const chunk of res.body) { read += Buffer.from(chunk).toString(); if (read.includes("TOOL_CALL_END")) { gone.abort(); break; } } } catch { /* it was us */ }
    let back;
    for (let i = 0; i < 50; i++) {
      await sleep(100);
      back = await post(at("inspector"), { ...body, runId: `r-back-${i}` });
      if (back.last.code !== "agui-thread-busy") break;
    }
    must(back.last.outcome?.type === "success", "the next run goes on", back.last);
    const whole = JSON.stringify(back.events);
    must(whole.includes("slowly found slow") && !back.events.some((e) => e.type === "TOOL_CALL_START"), "the call came to its end, once", back.events);
  });
  await scenario("10 MB are refused with a reason", async () => {
    const { status, text } = await post(at("inspector"), input("x".repeat(10 << 20)));
    must(status === 413 && text.includes("agui-too-large"), "413", { status, text: text.slice(0, 300) });
  });
  await scenario("what is no request is refused with a reason", async () => {
    for (const [body, code] of [["{", "agui-input"], ["[]", "agui-input"], ['{"threadId":"t","runId":"r"}', "agui-input"]]) {
      const { status, text } = await post(at("inspector"), body);
      must(status === 400 && text.includes(code), `${code} for ${body}`, { status, text });
    }
    const form = await post(at("inspector"), "a=b", { "content-type": "text/plain" });
    must(form.status === 415, "pages of others cannot send it", form.status);
    const nobody = await post(at("nobody"), input("x"));
    must(nobody.status === 404 && nobody.text.includes("agent-unknown"), "404", nobody);
    const empty = await post(at("inspector"), { ...input("x"), messages: [] });
    must(empty.last.code === "agui-nothing-said", "nothing was said", empty.last);
    const origin = await post(at("inspector"), input("x"), { origin: "https://evil.example" });
    must(origin.status === 403, "another origin is turned away", origin.status);
  });
  await scenario("the agents are listed with their names", async () => {
    const answer = await fetch(`${up.base}/agui`, { headers: { "accept-language": "nl" } });
    must(answer.headers.get("content-language") === "nl" && /accept-language/i.test(answer.headers.get("vary")), "the answer says its language", [...answer.headers]);
    const list = await answer.json();
    const inspector = list.agents.find((a) => a.name === "inspector");
    must(inspector?.displayName === "Inspecteur" && inspector.lang === "nl" && inspector.url === "/agui/inspector", "in the language of the caller", list);
  });
  await scenario("live calls are for those who may see everything", async () => {
    must((await fetch(`${up.base}/agui/live`)).status === 401, "nobody else");
  });

  // Another process goes on with what waits.
  await scenario("another process goes on with a run that waits", async () => {
    const { body, interrupts, messages } = await waiting("delete i.");
    await up.stop();
    const next = await gateway(["--config", path.join(here, "workspace/toolmark.toml"), "--store", path.join(scratch, "store.db")]);
    try {
      const on = await post(`${next.base}/agui/inspector`, { ...body, messages, runId: "r2", resume: yes(interrupts) });
      must(on.last.outcome?.type === "success" && JSON.stringify(on.events).includes("deleted /tmp/i"), "it goes on", on.last);
      // One that is stopped while a run is under way says so.
      const slow = post(`${next.base}/agui/inspector`, input("slow"));
      await sleep(400);
      const stopped = next.stop();
      const ended = await slow;
      must(ended.last.outcome?.type === "cancelled", "the run ends in peace", ended.last);
      await stopped;
    } finally { if (children.has(next.child)) await next.stop(); }
  });

  // The demo, without a configuration and without a key; its live calls, with the key that it prints.
  fs.mkdirSync(path.join(scratch, "empty"), { recursive: true });
  const demo = await gateway(["--store", path.join(scratch, "demo.db")], path.join(scratch, "empty"));
  await scenario("the demo agent needs no configuration", () => clean(`${demo.base}/agui/demo`, ["--message", "clean up", "--resume", "approve"], { events: ["TOOL_CALL_START", "TOOL_CALL_RESULT"] }));
  await demo.stop();
} catch (error) {
  failed.push("the gateway");
  console.log(`FAILED  ${error.stack}`);
} finally {
  for (const child of children) child.kill("SIGTERM");
  fs.rmSync(scratch, { recursive: true, force: true });
}
console.log(`${passed} held, ${failed.length} failed`);
process.exit(failed.length ? 1 : 0);
