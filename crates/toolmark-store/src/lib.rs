//! What must outlive the process: published names, last known definitions, tokens, the audit.
