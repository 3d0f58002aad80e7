// The keyboard: one place that hears keys and gives them to the page that is shown. Keys that go into a field stay there.

let page = null;
const everywhere = new Map();

/** What the shown page does with keys: `(event) => true` where it did something. */
export function pageKeys(handler) {
  page = handler;
}

export function always(name, action) {
  everywhere.set(name, action);
}

export function typing(target) {
  return target instanceof Element && Boolean(target.closest('input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]'));
}

/** `g` and then a letter goes to a page. */
let before = '';

export function listen(go) {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === 'Escape' && typing(event.target)) {
      event.target.blur();
      return;
    }
    if (typing(event.target)) return;
    if (document.querySelector('dialog[open]')) return;
    if (before === 'g' && go(event.key)) {
      before = '';
      event.preventDefault();
      return;
    }
    before = event.key;
    if (page?.(event) || everywhere.get(event.key)?.(event)) event.preventDefault();
  });
}
