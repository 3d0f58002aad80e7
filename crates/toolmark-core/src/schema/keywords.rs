//! What each keyword of JSON Schema holds, in any dialect: words, data, or schemas of which the keywords count in turn.

/// What stands under a keyword of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// Text for people and generators: it has no part in what the schema accepts.
    Words,
    /// A schema.
    Schema,
    /// A list of schemas whose order says nothing, or whose order is positions (`prefixItems`).
    List,
    /// Schemas by name. The names are not keywords.
    Named,
    /// One schema or a list of them.
    SchemaOrList,
    /// By name, schemas or lists of names.
    NamedOrNames,
    /// A value that is compared, counted or matched as it is.
    Data,
}

/// What stands under `keyword`. Keywords that no dialect defines hold data; those that start with `x-` hold words.
pub(crate) fn holds(keyword: &str) -> Holds {
    match keyword {
        "title" | "description" | "default" | "examples" | "example" | "$comment" | "$schema" | "deprecated"
        | "readOnly" | "writeOnly" => Holds::Words,
        "additionalProperties"
        | "unevaluatedProperties"
        | "propertyNames"
        | "additionalItems"
        | "unevaluatedItems"
        | "contains"
        | "contentSchema"
        | "not"
        | "if"
        | "then"
        | "else" => Holds::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Holds::List,
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => Holds::Named,
        "items" => Holds::SchemaOrList,
        "dependencies" => Holds::NamedOrNames,
        extension if extension.starts_with("x-") => Holds::Words,
        _ => Holds::Data,
    }
}
