// Where a key is asked for when there is none.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { fault } from '../parts.js';

export function login(error, enter) {
  const field = h('input', { type: 'password', id: 'key', autocomplete: 'off', spellcheck: 'false', 'aria-describedby': 'key-help', placeholder: 'tmk_…' });
  const button = h('button.button.primary', { type: 'submit' }, t('login.enter'));
  const form = h('form.card', { novalidate: true },
    h('img', { src: '/console/icon.svg', alt: '', width: '40', height: '40' }),
    h('h1', t('login.title')),
    h('p.soft', t('login.lead')),
    error ? fault(error) : null,
    h('label.field', h('span', t('login.key')), field),
    button,
    h('div.soft.small', { id: 'key-help' }, h('p', t('login.where')), h('code', 'toolmark console'), h('p', t('login.token')), h('code', 'toolmark token create ann --approver')),
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const value = key(field.value);
    if (!value) return field.focus();
    button.disabled = true;
    await enter(value);
    button.disabled = false;
  });
  queueMicrotask(() => field.focus());
  return h('main.login', form);
}

/** People paste the whole address too. */
function key(text) {
  const trimmed = text.trim();
  const found = /#(?:.*&)?key=([^&\s]+)/.exec(trimmed);
  return found ? decodeURIComponent(found[1]) : trimmed;
}
