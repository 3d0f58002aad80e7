//! `catalog-problem`: what the catalog refused, in its own words.

use toolmark_core::catalog::Catalog;
use toolmark_core::severity::Severity;

use crate::finding::Finding;
use crate::rule::RuleId;

pub(crate) fn find(catalog: &Catalog) -> Vec<Finding> {
    let finding = |problem: &toolmark_core::problem::Problem| {
        let report = problem.report();
        let names: Vec<&str> = report
            .facts()
            .get("owners")
            .and_then(|owners| owners.as_array())
            .into_iter()
            .flatten()
            .filter_map(|owner| owner.get("tool").and_then(|tool| tool.as_str()))
            .collect();
        Finding::new(RuleId::CatalogProblem, Severity::High, report.what())
            .named(&names)
            .at(problem.place())
            .helped_by(report.fix())
            .key(format!("{} {}", report.code(), report.what()))
            .with("code", report.code().as_str())
            .with("why", report.why())
            .with("facts", report.facts().clone())
    };
    catalog.problems().iter().map(finding).collect()
}
