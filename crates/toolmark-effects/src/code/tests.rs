use super::*;

#[test]
fn nothing_does_nothing() {
    for text in ["", "  \n\t", "# a comment", "// a comment\n  // another"] {
        assert_eq!(read(text), Reading::Understood(Vec::new()), "{text}");
    }
}

#[test]
fn a_look_at_a_page_is_a_read() {
    for text in [
        "document.title",
        "() => document.title",
        "() => { return document.body.innerText.slice(0, 500); }",
        "document.querySelectorAll('button.delete').length",
        "(el) => el.textContent",
        "Array.from(document.querySelectorAll('a[href]')).map(a => ({ text: a.innerText, href: a.href }))",
        "[...document.links].filter(l => l.href.includes('remove')).map(l => l.href).join('\\n')",
        "() => { const rows = document.querySelectorAll('tr'); return rows.length > 10 ? 'many' : 'few'; }",
        "return JSON.stringify({ w: window.innerWidth, h: window.innerHeight, url: location.href });",
        "document.querySelector('#x')?.getAttribute('data-id') ?? null",
        "document.body.innerText.match(/delete/g).length // count",
        "getComputedStyle(document.body).display === 'none'",
        "2 * (3 + 4)",
    ] {
        let Reading::Understood(effects) = read(text) else { panic!("{text}") };
        assert!(effects.iter().all(Effect::is_harmless), "{text}: {effects:?}");
    }
}

#[test]
fn what_a_page_keeps_is_a_secret() {
    for text in ["document.cookie", "() => localStorage.getItem('token')", "JSON.stringify(sessionStorage)"] {
        let Reading::Understood(effects) = read(text) else { panic!("{text}") };
        assert!(effects.iter().all(|effect| effect.dangers == [Danger::Secret]), "{text}: {effects:?}");
    }
}

#[test]
fn whatever_may_do_more_cannot_be_told() {
    for text in [
        "print(1)",
        "# c\nimport os",
        "//a\u{2028}b()",
        "#!/bin/sh",
        "document.title = 'x'",
        "document.forms[0].submit()",
        "document.querySelector('button').click()",
        "localStorage.clear()",
        "localStorage.setItem('a', 'b')",
        "fetch('/api', { method: 'DELETE' })",
        "window['fetch']('/x')",
        "window[a + b]",
        "location = 'https://x.example'",
        "location.href = 'https://x.example'",
        "location.assign('x')",
        "location.reload()",
        "document.body.remove()",
        "document.write('x')",
        "new Image().src",
        "new XMLHttpRequest()",
        "eval('1')",
        "document.constructor",
        "[].constructor.constructor('alert(1)')()",
        "(() => document.title)() || alert(1)",
        "while (true) {}",
        "const f = () => f(); f()",
        "Array.from({ length: 1000000000 })",
        "`${alert(1)}`",
        "`rm -rf x`",
        "\"#{`rm x`}\"",
        "x++",
        "i += 1",
        "delete document.title",
        "await page.click('#x')",
        "async (page) => { await page.goto('x') }",
        "if (1) /'/ ; alert(1) /'/",
        "document.title /* a */ ; alert(1)",
        "const document = x",
        "import('x')",
        "'a",
        "/(a+)+$/.test(document.title)",
        "(document) => document.click",
        "() => { document.body.innerHTML = '' }",
        "Object.assign(document, { title: 'x' })",
        "navigator.sendBeacon('x')",
        "history.back()",
        "window.open('x')",
        "document.querySelector('a').dispatchEvent('x')",
    ] {
        assert!(matches!(read(text), Reading::CannotTell { .. }), "{text}: {:?}", read(text));
    }
}

proptest::proptest! {
    #[test]
    fn no_program_is_too_strange(text in "\\PC{0,80}|[a-z.(){}\\[\\]=>'\"/\\\\*;, \n0-9`$#]{0,80}|(document|\\.|title|=|=>|\\(|\\)|/|'|\"|//|\\*|\n|cookie|alert){0,20}") {
        let _ = read(&text);
    }

    #[test]
    fn an_unknown_word_is_never_understood(before in "(document\\.title|1|'a'|\\(\\) => |[;,+(]){0,4}", after in "(document\\.title|1|'a'|[;,+)]){0,4}") {
        let text = format!("{before} frobnicate() {after}");
        proptest::prop_assert!(matches!(read(&text), Reading::CannotTell { .. }), "{}", text);
    }
}
