// A list of any length of which only what is seen is drawn. Rows have one height; the one that is chosen is known by its key, so that it stays
// chosen while others come and go.

import { h } from './dom.js';

/**
 * `row(item)` makes the inside of a row, `key(item)` says which it is, `choose(item)` is told what was chosen.
 * It is a listbox: arrows, j/k, Home, End, Page keys, Enter.
 */
export function list({ height, row, key, choose, open, label, empty }) {
  let items = [];
  let chosen = null;
  const drawn = new Map();
  const spacer = h('div.spacer', { role: 'presentation' });
  const box = h('div.list', { role: 'listbox', tabindex: '0', 'aria-label': label }, spacer);
  const blank = h('div.blank');
  let waiting = false;

  function later() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  }

  function draw() {
    if (!box.isConnected) return;
    spacer.style.height = `${items.length * height}px`;
    const top = Math.max(0, Math.floor(box.scrollTop / height) - 4);
    const bottom = Math.min(items.length, Math.ceil((box.scrollTop + box.clientHeight) / height) + 4);
    const wanted = new Map();
    for (let at = top; at < bottom; at++) wanted.set(key(items[at]), at);
    for (const [id, element] of drawn) {
      const at = wanted.get(id);
      if (at === undefined || element.item !== items[at]) {
        element.remove();
        drawn.delete(id);
      }
    }
    for (const [id, at] of wanted) {
      let element = drawn.get(id);
      if (!element) {
        element = h('div.item', { role: 'option', id: `o${++made}`, 'aria-setsize': items.length }, row(items[at]));
        element.item = items[at];
        element.addEventListener('click', () => pick(element.item, true));
        drawn.set(id, element);
        spacer.append(element);
      }
      element.style.transform = `translateY(${at * height}px)`;
      element.setAttribute('aria-posinset', at + 1);
      element.setAttribute('aria-selected', id === chosen);
      if (id === chosen) box.setAttribute('aria-activedescendant', element.id);
    }
    blank.hidden = items.length > 0;
  }

  function pick(item, opens) {
    chosen = item === null ? null : key(item);
    if (item === null) box.removeAttribute('aria-activedescendant');
    for (const [id, element] of drawn) element.setAttribute('aria-selected', id === chosen);
    later();
    choose?.(item);
    if (opens && item !== null) open?.(item);
  }

  const place = () => items.findIndex((item) => key(item) === chosen);

  function move(by, to) {
    if (!items.length) return;
    const now = place();
    const next = to ?? (now < 0 ? (by > 0 ? 0 : items.length - 1) : Math.min(items.length - 1, Math.max(0, now + by)));
    pick(items[next], false);
    reveal(next);
  }

  function reveal(at) {
    const top = at * height;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
  }

  function keys(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const page = Math.max(1, Math.floor(box.clientHeight / height) - 1);
    if (event.key === 'ArrowDown' || event.key === 'j') move(1);
    else if (event.key === 'ArrowUp' || event.key === 'k') move(-1);
    else if (event.key === 'PageDown') move(page);
    else if (event.key === 'PageUp') move(-page);
    else if (event.key === 'Home') move(0, 0);
    else if (event.key === 'End') move(0, items.length - 1);
    else if (event.key === 'Enter' && place() >= 0) open?.(items[place()]);
    else return false;
    return true;
  }

  box.addEventListener('scroll', later, { passive: true });
  box.addEventListener('keydown', (event) => {
    if (keys(event)) {
      event.preventDefault();
      event.stopPropagation();
    }
  });
  const seen = new ResizeObserver(later);
  seen.observe(box);
  if (empty) blank.append(empty);

  return {
    element: h('div.listing', box, blank),
    box,
    keys,
    pick,
    get chosen() { return chosen; },
    get items() { return items; },
    top: () => { box.scrollTop = 0; },
    /** How many rows are above what is seen, kept in place when rows come in front. */
    show(next, { keep = 0 } = {}) {
      items = next;
      if (keep) box.scrollTop += keep * height;
      later();
    },
    /** Chooses without opening, and brings it into sight. */
    mark(id) {
      chosen = id;
      // In the next frame the list is as long as it will be.
      requestAnimationFrame(() => {
        if (chosen !== id) return;
        draw();
        const at = place();
        const seen = at * height >= box.scrollTop && (at + 1) * height <= box.scrollTop + box.clientHeight;
        if (at >= 0 && !seen) box.scrollTop = at * height - box.clientHeight / 3;
      });
    },
    blank(...children) { blank.replaceChildren(...children.filter(Boolean)); },
    now: draw,
    redraw() {
      for (const element of drawn.values()) element.remove();
      drawn.clear();
      later();
    },
    end() { seen.disconnect(); },
  };
}

let made = 0;
