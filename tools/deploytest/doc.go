// Package deploytest holds what is done to deploy Rollcall against the stage:
// the looks before a deployment, the rights in clusters, and every command of
// the pages that tell how. It has nothing else.
package deploytest
