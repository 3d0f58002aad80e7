//! The words of the macro are the words of the engine, and every option arrives.

use std::time::Duration;

use toolmark::behavior::{Action, Behavior, ContentType, Mutability, OutputDomain};
use toolmark::prelude::*;
use toolmark::tools::DisplayNames;

/// A tool for each word would be the same test; these hold every word of the two long lists.
macro_rules! behaviors {
    ($($name:ident: $mutability:ident $action:ident $domain:ident $content:ident;)+) => {
        $(#[tool(behavior($mutability, $action, $domain, $content))] fn $name() {})+

        fn declared() -> Vec<Behavior> {
            vec![$($name::tool().build().expect("a tool").behavior().expect("a behavior")),+]
        }
    };
}

behaviors! {
    a: pure read data none;
    b: pure search content text;
    c: mutates create structure structured;
    d: mutates update diff image;
    e: mutates delete pr audio;
    f: mutates merge issue video;
    g: mutates overwrite ref binary;
    h: mutates append repo any;
    i: pure execute user none;
    j: mutates send ack none;
    k: mutates read message none;
    l: mutates read run none;
    m: mutates read resource none;
    n: mutates read session none;
    o: mutates read finding none;
    p: mutates read secret none;
}

#[test]
fn every_word_of_the_engine_is_a_word_of_the_macro() {
    let declared = declared();
    for word in Mutability::ALL {
        assert!(declared.iter().any(|behavior| behavior.mutability() == *word), "{word}");
    }
    for word in Action::ALL {
        assert!(declared.iter().any(|behavior| behavior.action() == *word), "{word}");
    }
    for word in OutputDomain::ALL {
        assert!(declared.iter().any(|behavior| behavior.output_domain() == *word), "{word}");
    }
    for word in ContentType::ALL {
        assert!(declared.iter().any(|behavior| behavior.content_type() == Some(*word)), "{word}");
    }
}

#[tool(
    display_name("Delete customer", nl = "Klant verwijderen", "pt-BR" = "Excluir cliente"),
    spoken("delete a customer", nl = "klant verwijderen"),
    icon = "🗑️",
    category = "Customers",
    behavior(mutates, delete, user),
    needs_approval,
    timeout = "1.5s",
    defer_loading,
    strict
)]
async fn delete_customer(id: u64) -> String {
    format!("{id} is gone")
}

#[test]
fn every_option_arrives() {
    let tool = delete_customer::tool().build().expect("a tool");
    let names: &DisplayNames = tool.display_names();
    assert_eq!(names.everywhere(), Some("Delete customer"));
    assert_eq!(names.in_locale("nl-BE"), Some("Klant verwijderen"));
    assert_eq!(names.in_locale("pt-BR"), Some("Excluir cliente"));
    assert_eq!(names.in_locale("de"), Some("Delete customer"));
    assert_eq!(names.spoken(), Some("delete a customer"));
    assert_eq!(tool.behavior().map(|behavior| behavior.to_string()).as_deref(), Some("MUTATES|DELETE|USER"));
    assert_eq!(tool.needs_approval().as_fixed(), Some(true));
    assert_eq!(tool.timeout(), Some(Duration::from_millis(1500)));
    assert!(tool.defers_loading());
    assert!(tool.strict_parameters().is_some());
    let said: serde_json::Value = serde_json::from_str(tool.definition().raw_json()).expect("JSON");
    assert_eq!(said["title"], "Delete customer");
    assert_eq!(said["_meta"]["dev.toolmark/names"]["nl"], "Klant verwijderen");
    assert_eq!(said["_meta"]["dev.toolmark/spoken"]["und"], "delete a customer");
    assert_eq!(said["_meta"]["dev.toolmark/spoken"]["nl"], "klant verwijderen");
    assert_eq!(said["_meta"]["dev.toolmark/icon"], "🗑️");
    assert_eq!(said["_meta"]["dev.toolmark/category"], "Customers");
}
