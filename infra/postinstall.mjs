// npm runs this after an install. The CDK command line brings templates for
// new Go apps (%name%.template.go) that are no Go: `gofmt -l infra` fails at them.
// (go itself does not look here: the ignore of go.mod.) Only `cdk init` uses them.
import { rmSync } from "node:fs";

rmSync("node_modules/aws-cdk/lib/init-templates", { recursive: true, force: true });
