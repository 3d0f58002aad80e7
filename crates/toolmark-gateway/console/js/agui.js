// A conversation with an agent over AG-UI: what is sent, and what the events that come back make of it. It knows nothing of pages.

import { events } from './api.js';

const fresh = () => crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** One conversation. `changed(item, what)` is called for everything that is new or becomes more. */
export class Thread {
  constructor(agent) {
    this.agent = agent;
    this.id = fresh();
    this.title = '';
    /** What is shown, in order: user, text, reasoning, tool, subagent, error, note. */
    this.items = [];
    /** What is sent: messages as AG-UI has them. */
    this.messages = [];
    this.state = undefined;
    this.running = null;
    this.interrupts = [];
    this.answers = new Map();
    this.changed = () => {};
    this.byId = new Map();
  }

  get waits() {
    return this.interrupts.length > 0;
  }

  async say(text) {
    if (!this.title) this.title = text.slice(0, 60);
    this.messages.push({ id: fresh(), role: 'user', content: text });
    this.#add({ kind: 'user', text });
    await this.#run({});
  }

  /** One answer; when the last one is there, the run goes on. Some answers alone are not allowed. */
  async answer(interrupt, payload) {
    this.answers.set(interrupt.id, payload);
    const tool = this.#tool(interrupt);
    if (tool) {
      tool.answer = payload;
      tool.state = payload.approved ? 'approved' : 'rejected';
      this.changed(tool, 'tool');
    }
    if (this.interrupts.some((one) => !this.answers.has(one.id))) return;
    const resume = this.interrupts.map((one) => ({ interruptId: one.id, status: 'resolved', payload: this.answers.get(one.id) }));
    const before = { interrupts: this.interrupts, answers: this.answers };
    this.interrupts = [];
    this.answers = new Map();
    const went = await this.#run({ resume });
    // Nobody heard the answers: they can be given again.
    if (!went) {
      this.interrupts = before.interrupts;
      for (const one of this.interrupts) {
        const open = this.#tool(one);
        if (open) Object.assign(open, { answer: undefined, state: 'asking', interrupt: one });
        if (open) this.changed(open, 'tool');
      }
    }
  }

  stop() {
    this.running?.abort();
  }

  /** Tells whether the agent began. */
  async #run(more) {
    const ending = new AbortController();
    this.running = ending;
    let began = false;
    let ended = false;
    this.changed(null, 'run');
    try {
      const body = { threadId: this.id, runId: fresh(), protocolVersion: '1.0', messages: this.messages, tools: [], context: [], state: this.state ?? {}, forwardedProps: {}, ...more };
      await events(this.agent.agui ?? `/agui/${encodeURIComponent(this.agent.name)}`, (_, data) => {
        const event = JSON.parse(data);
        if (event.type === 'RUN_STARTED') began = true;
        if (event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR') ended = true;
        this.#take(event);
      }, { method: 'POST', body, signal: ending.signal });
      if (!ended) this.#add({ kind: 'error', key: 'chat.broken' });
    } catch (error) {
      if (error.name === 'AbortError') this.#add({ kind: 'note', key: 'chat.stopped' });
      else this.#add({ kind: 'error', error });
    }
    this.running = null;
    for (const item of this.byId.values()) {
      if (item.kind === 'tool' && item.state === 'running') {
        item.state = 'open';
        this.changed(item, 'tool');
      }
    }
    this.changed(null, 'run');
    return began;
  }

  #add(item, event) {
    item.owner = event?.subagentRunId ?? null;
    this.items.push(item);
    if (item.id) this.byId.set(`${item.kind} ${item.id}`, item);
    this.changed(item, 'new');
    return item;
  }

  #get(kind, id) {
    return this.byId.get(`${kind} ${id}`);
  }

  #tool(interrupt) {
    return this.#get('tool', interrupt.toolCallId ?? interrupt.id);
  }

  #message(id) {
    let message = this.messages.find((one) => one.id === id);
    if (!message) {
      message = { id, role: 'assistant' };
      this.messages.push(message);
    }
    return message;
  }

  #take(event) {
    switch (event.type) {
      case 'TEXT_MESSAGE_START':
        if (event.role && event.role !== 'assistant') return;
        this.#add({ kind: 'text', id: event.messageId, text: '', agent: event.name }, event);
        if (!event.subagentRunId) this.#message(event.messageId).content = '';
        break;
      case 'TEXT_MESSAGE_CONTENT':
      case 'TEXT_MESSAGE_CHUNK': {
        const item = this.#get('text', event.messageId) ?? this.#add({ kind: 'text', id: event.messageId, text: '' }, event);
        item.text += event.delta ?? '';
        if (!item.owner) this.#message(item.id).content = item.text;
        this.changed(item, 'text');
        break;
      }
      case 'REASONING_MESSAGE_START':
        this.#add({ kind: 'reasoning', id: event.messageId, text: '' }, event);
        break;
      case 'REASONING_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CHUNK': {
        const item = this.#get('reasoning', event.messageId) ?? this.#add({ kind: 'reasoning', id: event.messageId, text: '' }, event);
        item.text += event.delta ?? '';
        this.changed(item, 'text');
        break;
      }
      case 'TOOL_CALL_START': {
        const item = this.#add({ kind: 'tool', id: event.toolCallId, name: event.toolCallName, args: '', about: event.metadata?.['dev.toolmark/tool'], state: 'running' }, event);
        if (item.owner) break;
        const message = this.#message(event.parentMessageId ?? `calls-${event.toolCallId}`);
        (message.toolCalls ??= []).push({ id: event.toolCallId, type: 'function', function: { name: event.toolCallName, arguments: '' }, ...(event.metadata ? { metadata: event.metadata } : {}) });
        break;
      }
      case 'TOOL_CALL_ARGS':
      case 'TOOL_CALL_CHUNK': {
        const item = this.#get('tool', event.toolCallId);
        if (!item) break;
        item.args += event.delta ?? '';
        const call = this.messages.flatMap((message) => message.toolCalls ?? []).find((one) => one.id === item.id);
        if (call) call.function.arguments = item.args;
        this.changed(item, 'tool');
        break;
      }
      case 'TOOL_CALL_RESULT': {
        const item = this.#get('tool', event.toolCallId) ?? this.#add({ kind: 'tool', id: event.toolCallId, name: event.toolCallId, args: '' }, event);
        item.result = event.content;
        item.about ??= event.metadata?.['dev.toolmark/tool'];
        item.call = event.metadata?.['dev.toolmark/call'];
        item.state = 'done';
        item.interrupt = undefined;
        if (!item.owner) this.messages.push({ id: event.messageId ?? fresh(), role: 'tool', toolCallId: event.toolCallId, content: event.content });
        this.changed(item, 'tool');
        break;
      }
      case 'SUBAGENT_STARTED':
        this.#add({ kind: 'subagent', id: event.subagentRunId, name: event.name, about: event.metadata?.['dev.toolmark/agent'] ?? event.metadata?.['dev.toolmark/tool'], text: event.description, state: 'running' }, { subagentRunId: event.parentSubagentRunId });
        break;
      case 'SUBAGENT_FINISHED':
      case 'SUBAGENT_ERROR': {
        const item = this.#get('subagent', event.subagentRunId);
        if (!item) break;
        item.state = event.type === 'SUBAGENT_ERROR' ? 'failed' : event.outcome?.type === 'suspended' ? 'asking' : 'done';
        item.fault = event.message;
        this.changed(item, 'subagent');
        break;
      }
      case 'MESSAGES_SNAPSHOT':
        // Ours are what was shown; theirs are what holds.
        if (Array.isArray(event.messages)) this.messages = event.messages;
        break;
      case 'STATE_SNAPSHOT':
        this.state = event.snapshot;
        break;
      case 'RUN_ERROR':
        this.#add({ kind: 'error', error: { message: event.message, code: event.code } });
        break;
      case 'RUN_FINISHED':
        if (event.outcome?.type === 'interrupt') {
          this.interrupts = event.outcome.interrupts ?? [];
          for (const one of this.interrupts) {
            const item = this.#tool(one) ?? this.#add({ kind: 'tool', id: one.toolCallId ?? one.id, name: one.reason, args: '' }, event);
            item.state = 'asking';
            item.interrupt = one;
            item.about ??= one.metadata?.['dev.toolmark/tool'];
            this.changed(item, 'tool');
          }
        }
        break;
      default:
        // Others are for those who know them.
        break;
    }
  }
}
