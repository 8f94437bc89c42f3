// npm runs this after an install. The CDK command line brings templates for
// new Go apps, whose names (%name%.template.go) no Go tool accepts: with them,
// `go test ./infra/...` and `gofmt -l infra` would fail. Only `cdk init` uses
// them.
import { rmSync } from "node:fs";

rmSync("node_modules/aws-cdk/lib/init-templates", { recursive: true, force: true });
