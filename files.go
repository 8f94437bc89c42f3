// Package rollcall holds files of the repository that programs carry with them, so
// that they run where there is no clone of it.
package rollcall

import "embed"

//go:embed infra/Rollcall.template.json infra/RollcallSpoke.template.json infra/RollcallRelay.template.json deploy/clusterrole.yaml events/schema
//go:embed stage/worlds/route.yaml stage/worlds/spot.yaml stage/worlds/spot-reclaimed.yaml stage/worlds/spot-route.yaml
//go:embed stage/worlds/ips.yaml stage/worlds/zone.yaml stage/worlds/karpenter.yaml
var files embed.FS

// Files are the stack's template, infra/Rollcall.template.json, those of a spoke and of a
// relay beside it, what the functions may read in a cluster, deploy/clusterrole.yaml, the
// schemas of the events that they send, events/schema, and the worlds of the stories,
// stage/worlds.
func Files() embed.FS { return files }
