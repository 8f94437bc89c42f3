// Validates templates offline, with the rules of CloudFormation's own linter:
//
//   node infra/validate.mjs cdk.out/Rollcall.template.json
//
// Errors and warnings end it with status 1. Remarks are counted by rule; one
// that is not explained here counts as a warning.
import { RegoEngine, TemplateFile } from "@aws/cloudformation-validate";

const explained = {
  I1022: "Fn::Join with an empty delimiter is how CDK writes a text with references in it",
  I9040: "the dashboard alone: cfn-lint knows no tags of it",
  I9001: "says which properties replace a resource when they change; queues and functions have names so that an operator finds them",
};

const files = process.argv.slice(2);
if (files.length === 0) {
  console.error("usage: node infra/validate.mjs TEMPLATE...");
  process.exit(2);
}
let wrong = 0;
const engine = new RegoEngine();
for (const file of files) {
  const remarks = new Map();
  const { diagnostics } = engine.validateStandard(new TemplateFile(file));
  for (const d of diagnostics) {
    if (d.severity === "INFO" && d.ruleId in explained) {
      remarks.set(d.ruleId, (remarks.get(d.ruleId) ?? 0) + 1);
      continue;
    }
    wrong++;
    console.log(`${file}:${d.startLine}: ${d.severity} ${d.ruleId} ${d.entity?.logicalId ?? ""}: ${d.message}`);
  }
  for (const [rule, count] of [...remarks].sort()) {
    console.log(`${file}: ${count} x ${rule}: ${explained[rule]}`);
  }
}
engine.free();
console.log(wrong === 0 ? "no errors, no warnings" : `${wrong} errors or warnings`);
process.exitCode = wrong === 0 ? 0 : 1;
