// Package rollcall holds files of the repository that programs carry with them, so
// that they run where there is no clone of it.
package rollcall

import "embed"

//go:embed infra/Rollcall.template.json deploy/clusterrole.yaml
var files embed.FS

// Files are the stack's template, infra/Rollcall.template.json, and what the
// functions may read in a cluster, deploy/clusterrole.yaml.
func Files() embed.FS { return files }
