// Package kubetest holds what reads Kubernetes, and what plays it, against a
// real kube-apiserver with a real etcd: the reader (shared/kube), the rights
// that it needs (deploy/clusterrole.yaml) and the stage's own Kubernetes API
// (stage/simaws/kubeapi) must agree with it. The tests are opt-in, by the build
// tag kube:
//
//	.ci/run kube
//
// Everything that the reader reads is judged: a method of the client for which
// no object is made here is a failure. The two servers are built from their Go
// modules, once, and kept in the user's cache folder (XDG_CACHE_HOME or
// ~/.cache, rollcall/kube-apiserver-VERSION-FLAGS). A first run takes some minutes and two gigabytes of build
// cache, and needs a Go module proxy; later ones take less than half a minute.
// Servers that cannot be built or started are a failure, not a skip. Nothing is
// left behind but the two binaries. How far a build is shows only when go test
// is started in this folder, or with -v.
package kubetest
