// Package kubeapi is the read side of a Kubernetes API server, for the local
// stage: discovery, list and get of the kinds that Rollcall and a person with
// kubectl look at, with label and field selectors, pages, tables, and the API's
// own errors. What the objects are, who the caller is and what he may see is
// asked of the Config.
package kubeapi
