#!/usr/bin/env node
// AG-UI acceptance check: drives the REAL @ag-ui/client HttpAgent against a URL
// and prints one JSON object per line. See README.md for the line kinds.
import { HttpAgent, buildResumeArray } from "@ag-ui/client";
import fs from "node:fs";

const usage = `usage: node check.mjs <url> [--message TEXT] [--input FILE.json] [--header "K: V"]...
   [--resume approve|deny|cancel|FILE.json] [--edit JSON] [--reply TEXT] [--frontend FILE.json]
   [--then TEXT]... [--max-runs N] [--timeout MS] [--proto] [--strict] [--no-wire] [--expect FILE.json]`;

const argv = process.argv.slice(2);
const opt = { headers: {}, maxRuns: 4, timeout: 30000, wire: true, then: [] };
let url;
for (let i = 0; i < argv.length; i++) {
  const a = argv[i];
  const need = () => { if (++i >= argv.length) { console.error(usage); process.exit(64); } return argv[i]; };
  if (a === "--message") opt.message = need();
  else if (a === "--input") opt.input = JSON.parse(fs.readFileSync(need(), "utf8"));
  else if (a === "--header") { const h = need(); const p = h.indexOf(":"); opt.headers[h.slice(0, p).trim()] = h.slice(p + 1).trim(); }
  else if (a === "--resume") opt.resume = need();
  else if (a === "--edit") { opt.edit = JSON.parse(need()); opt.resume ??= "approve"; }
  else if (a === "--reply") opt.reply = need();
  else if (a === "--frontend") opt.frontend = JSON.parse(fs.readFileSync(need(), "utf8"));
  else if (a === "--then") opt.then.push(need());
  else if (a === "--max-runs") opt.maxRuns = Number(need());
  else if (a === "--timeout") opt.timeout = Number(need());
  else if (a === "--proto") opt.proto = true;
  else if (a === "--strict") opt.strict = true;
  else if (a === "--no-wire") opt.wire = false;
  else if (a === "--expect") opt.expect = JSON.parse(fs.readFileSync(need(), "utf8"));
  else if (a === "-h" || a === "--help") { console.log(usage); process.exit(0); }
  else if (!url && !a.startsWith("--")) url = a;
  else { console.error(`unknown argument: ${a}\n${usage}`); process.exit(64); }
}
if (!url) { console.error(usage); process.exit(64); }

const t0 = Date.now();
let line = 0, run = 0;
const out = (kind, body) => process.stdout.write(JSON.stringify({ n: line++, t: Date.now() - t0, run, kind, ...body }) + "\n");

// The client reports stripped fields, dropped events and shims only through
// console.warn / console.error. Turn both into JSON lines.
const warnings = [], stripped = [], dropped = [], shims = [];
console.warn = (...a) => {
  const text = a.map(String).join(" ");
  let m, cls = "other";
  if ((m = /Removed unrecognised material at '([^']*)' on (\S+?)\./.exec(text))) { cls = "stripped"; stripped.push({ path: m[1], eventType: m[2] }); }
  else if ((m = /Dropping unrecognised event '([^']*)'/.exec(text))) { cls = "dropped"; dropped.push(m[1]); }
  else if (text.includes("[ag-ui][compat]")) { cls = "legacy-shim"; shims.push(text); }
  warnings.push(text);
  out("warning", { class: cls, ...(m ? { path: m[1], eventType: m[2] } : {}), text });
};
console.error = (...a) => out("client-log", { level: "error", text: a.map((x) => (x instanceof Error ? x.message : String(x))).join(" ") });
console.log = (...a) => out("client-log", { level: "log", text: a.map(String).join(" ") });
console.info = console.debug = console.log;

// Tee the response so the raw wire frames are visible next to what survives.
const wireCounts = {};
const teeFetch = async (u, init) => {
  const headers = new Headers(init.headers);
  if (opt.proto) headers.set("accept", "application/vnd.ag-ui.event+proto, text/event-stream;q=0.5");
  out("request", { method: init.method, url: String(u), headers: Object.fromEntries(headers), body: JSON.parse(init.body) });
  const res = await fetch(u, { ...init, headers });
  out("response", { status: res.status, headers: Object.fromEntries(res.headers) });
  const ct = res.headers.get("content-type") ?? "";
  if (res.ok && ct !== "application/vnd.ag-ui.event+proto" && !/^text\/event-stream(\s*;|$)/i.test(ct))
    out("note", { text: `content-type is '${ct}'; the client will parse it as SSE, a conforming server says text/event-stream` });
  if (!res.body || !opt.wire || ct === "application/vnd.ag-ui.event+proto") return res;
  const [a, b] = res.body.tee();
  (async () => {
    const dec = new TextDecoder(); let buf = "";
    try {
      for await (const chunk of b) {
        buf += dec.decode(chunk, { stream: true });
        const parts = buf.split(/\n\n/); buf = parts.pop();
        for (const p of parts) {
          const data = p.split("\n").filter((l) => l.startsWith("data:")).map((l) => l.slice(5).replace(/^ /, "")).join("\n");
          if (!data) { out("wire-other", { text: p }); continue; }
          let event; try { event = JSON.parse(data); } catch { out("wire", { unparsable: data }); continue; }
          wireCounts[event?.type] = (wireCounts[event?.type] ?? 0) + 1;
          out("wire", { event });
        }
      }
      if (buf.trim()) out("wire-tail", { text: buf });
    } catch (e) { out("wire-error", { message: String(e?.message ?? e) }); }
  })();
  return new Response(a, { status: res.status, headers: res.headers });
};

const stageOf = (e) => {
  const m = String(e?.message ?? e);
  if (e?.status || /^HTTP \d+/.test(m)) return "http";
  if (e?.name === "ZodError" || e?.issues) return "schema";
  if (e?.constructor?.name === "AGUIError" || /^(Cannot send|First event must be|Step ")/.test(m)) return "verify";
  if (e?.name === "AbortError" || e?.name === "TimeoutError") return "timeout";
  if (e instanceof SyntaxError || /^Invalid event|binary stream|SSE buffer/.test(m)) return "framing";
  if (/fetch failed/.test(m)) return "connect";
  return "client";
};

const inp = opt.input ?? {};
const agent = new HttpAgent({
  url, headers: opt.headers, fetch: teeFetch,
  threadId: inp.threadId, initialState: inp.state,
  initialMessages: inp.messages ?? [{ id: "check-user-1", role: "user", content: opt.message ?? "hello" }],
});

const eventCounts = {}, errors = [], toolCalls = {}, outcomes = [], runErrors = [], subagents = [], customs = [];
let sawTerminal = false, pendingCalls = [];
const subscriber = {
  onEvent: ({ event }) => {
    eventCounts[event.type] = (eventCounts[event.type] ?? 0) + 1;
    out("event", { event });
    if (event.type === "TOOL_CALL_START") toolCalls[event.toolCallId] = { name: event.toolCallName, metadata: event.metadata, ...(event.subagentRunId ? { subagent: event.subagentRunId } : {}) };
    if (event.type === "TOOL_CALL_RESULT") (toolCalls[event.toolCallId] ??= {}).result = { content: event.content, metadata: event.metadata };
    if (event.type === "SUBAGENT_STARTED") subagents.push({ id: event.subagentRunId, name: event.name, parentToolCallId: event.parentToolCallId });
    if (event.type === "CUSTOM") customs.push({ name: event.name, value: event.value });
    if (event.type === "RUN_ERROR") { sawTerminal = true; outcomes.push("error"); runErrors.push({ code: event.code, message: event.message }); }
    if (event.type === "RUN_FINISHED") { sawTerminal = true; outcomes.push(event.outcome?.type ?? "success(absent)"); pendingCalls = event.outcome?.pendingToolCallIds ?? []; }
  },
  onRunFailed: ({ error }) => {
    const e = { stage: stageOf(error), name: error?.name, message: String(error?.message ?? error), ...(error?.status ? { status: error.status } : {}), ...(error?.issues ? { issues: error.issues } : {}) };
    errors.push(e); out("error", e);
    return { stopPropagation: true };
  },
};

let resume = inp.resume;
for (run = 1; run <= opt.maxRuns; run++) {
  sawTerminal = false;
  const ac = new AbortController();
  const timer = setTimeout(() => { errors.push({ stage: "timeout", message: `no end after ${opt.timeout} ms` }); out("error", errors.at(-1)); ac.abort(); }, opt.timeout);
  try {
    const r = await agent.runAgent({ runId: run === 1 ? inp.runId : undefined, tools: inp.tools, context: inp.context, forwardedProps: inp.forwardedProps, resume, abortController: ac }, subscriber);
    out("run-result", { result: r.result, newMessages: r.newMessages });
  } catch (error) {
    if (!errors.some((e) => e.message === String(error?.message ?? error))) {
      const e = { stage: stageOf(error), name: error?.name, message: String(error?.message ?? error), ...(error?.issues ? { issues: error.issues } : {}) };
      errors.push(e); out("error", e);
    }
  } finally { clearTimeout(timer); }
  await new Promise((r) => setTimeout(r, 30)); // let the tee drain
  // verifyEvents never checks that a stream ends with a terminal event; we do.
  if (!errors.length && !sawTerminal) { errors.push({ stage: "check", message: "stream ended without RUN_FINISHED or RUN_ERROR" }); out("error", errors.at(-1)); }
  if (errors.length) break;
  if (!agent.pendingInterrupts.length) {
    resume = undefined;
    if (pendingCalls.length && opt.frontend) {
      // The page runs its own tools, and brings what came of them with the next run.
      for (const id of pendingCalls) agent.addMessage({ id: `result-${id}`, role: "tool", toolCallId: id, content: JSON.stringify(opt.frontend[toolCalls[id]?.name] ?? "done") });
      pendingCalls = [];
      continue;
    }
    const next = opt.then.shift();
    if (next === undefined) break;
    agent.addMessage({ id: `check-user-${run + 1}`, role: "user", content: next });
    continue;
  }
  if (!opt.resume) break;
  const ints = agent.pendingInterrupts;
  out("interrupts", { interrupts: ints });
  let answers;
  if (["approve", "deny", "cancel"].includes(opt.resume))
    answers = Object.fromEntries(ints.map((i) => [i.id, opt.resume === "cancel" ? { status: "cancelled" } : { status: "resolved", payload: { approved: opt.resume === "approve", ...(opt.edit ? { editedArgs: opt.edit } : {}), ...(opt.reply ? { message: opt.reply } : {}) } }]));
  else {
    // By the id of the interrupt, or by what is known before: the name of the tool, or `*` for all.
    const written = JSON.parse(fs.readFileSync(opt.resume, "utf8"));
    answers = Object.fromEntries(ints.map((i) => [i.id, written[i.id] ?? written[toolCalls[i.toolCallId]?.name] ?? written["*"]]).filter(([, answer]) => answer));
  }
  try { resume = buildResumeArray(ints, answers); } catch (e) { errors.push({ stage: "resume", message: e.message }); out("error", errors.at(-1)); break; }
}
run = Math.min(run, opt.maxRuns);

out("messages", { messages: agent.messages });
out("state", { state: agent.state });

const failures = [];
// Whether `got` has all that `want` has. Text that begins and ends with a slash is a pattern.
const has = (got, want) => {
  if (typeof want === "string" && want.length > 2 && want.startsWith("/") && want.endsWith("/")) return new RegExp(want.slice(1, -1)).test(String(got));
  if (Array.isArray(want)) return Array.isArray(got) && got.length === want.length && want.every((w, i) => has(got[i], w));
  if (want && typeof want === "object") return got && typeof got === "object" && Object.entries(want).every(([k, v]) => has(got[k], v));
  return got === want;
};
if (opt.expect) {
  const x = opt.expect;
  const subset = x.match === "subset";
  const same = (got, want) => (subset ? has(got, want) : JSON.stringify(got) === JSON.stringify(want));
  const told = (what, got, want) => { if (want !== undefined && !has(got, want)) failures.push(`${what} ${JSON.stringify(got)}, wanted ${JSON.stringify(want)}`); };
  const texts = agent.messages.filter((m) => m.role === "assistant").map((m) => m.content ?? "");
  told("last text", texts.at(-1), x.text);
  told("roles", agent.messages.map((m) => m.role), x.roles);
  told("run errors", runErrors, x.runErrors);
  told("subagents", subagents, x.subagents);
  told("custom events", customs, x.customs);
  told("state", agent.state, x.state);
  told("pending interrupts", agent.pendingInterrupts, x.interrupts);
  for (const [name, want] of Object.entries(x.results ?? {})) {
    const got = Object.values(toolCalls).filter((t) => t.name === name).map((t) => t.result);
    if (!got.some((r) => has(r, want))) failures.push(`results of '${name}' ${JSON.stringify(got)}, wanted ${JSON.stringify(want)}`);
  }
  for (const t of x.noEvents ?? []) if (eventCounts[t]) failures.push(`event ${t} was seen`);
  for (const [id, want] of Object.entries(x.toolCalls ?? {})) {
    const got = Object.values(toolCalls).find((t) => t.name === id);
    if (!got) failures.push(`no tool call named '${id}'`);
    else for (const [k, v] of Object.entries(want.metadata ?? {}))
      if (!same(got.metadata?.[k], v)) failures.push(`tool call '${id}' metadata['${k}'] = ${JSON.stringify(got.metadata?.[k])}, wanted ${JSON.stringify(v)}`);
  }
  for (const t of x.events ?? []) if (!eventCounts[t]) failures.push(`event ${t} never seen`);
  if (x.outcomes && JSON.stringify(outcomes) !== JSON.stringify(x.outcomes)) failures.push(`outcomes ${JSON.stringify(outcomes)}, wanted ${JSON.stringify(x.outcomes)}`);
  for (const f of failures) out("expect-failure", { text: f });
}
const strictFail = opt.strict && (stripped.length || dropped.length || shims.length);
const ok = !errors.length && !failures.length && !strictFail;
out("summary", { ok, runs: run, outcomes, errors, failures, stripped, dropped, legacyShims: shims.length, warnings: warnings.length, wireCounts, eventCounts, toolCalls, runErrors, subagents, pendingInterrupts: agent.pendingInterrupts.map((i) => i.id) });
process.exitCode = ok ? 0 : errors.some((e) => ["http", "connect", "timeout"].includes(e.stage)) ? 3 : errors.length ? 1 : 2;
