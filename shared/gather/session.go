package gather

import (
	"context"
	"errors"
	"net/http"

	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

// errNoEndpoint: a cluster that is being made has no endpoint yet.
var errNoEndpoint = errors.New("the cluster has no endpoint")

// session is one client, with one token, for all that is read of a cluster's
// Kubernetes API in one look; or why there is none.
type session struct {
	client *kube.Client
	err    error
}

// connect makes the client. It talks to nobody: the token is signed here.
func (r *Reader) connect(ctx context.Context, c snapshot.Cluster, clusterRead bool) session {
	if !clusterRead {
		return session{err: errClusterBlind}
	}
	endpoint, ca := c.Endpoint, c.CA
	if r.door != nil {
		if e, a, ok := r.door(c.Name); ok {
			endpoint, ca = e, a
		}
	}
	if endpoint == "" {
		return session{err: errNoEndpoint}
	}
	token, err := kube.Token(ctx, r.presigner, c.Name)
	if err != nil {
		return session{err: err}
	}
	client, err := kube.New(endpoint, ca, token)
	return session{client: client, err: err}
}

func (s session) close() {
	if s.client != nil {
		s.client.Close()
	}
}

// ofAll tells a failure that is not of one list but of the whole API: nobody
// answers, or nobody knows us. Asking for the rest would only take time, and
// tell of one fault six times.
func ofAll(f snapshot.Failure) bool {
	return f.Reason == snapshot.Unreachable || f.Reason == snapshot.TimedOut || f.Reason == snapshot.NotRead || f.Code == "Unauthorized"
}

// notGrantedError: certificate signing requests and ENIConfigs can be listed
// with the rights of deploy/clusterrole.yaml, and by none of EKS's access
// policies that gives no secrets. Nothing certain hangs on them, so that is no
// fault of the deployment.
type notGrantedError struct{ what string }

func (e notGrantedError) Error() string {
	return "listing " + e.what + " takes the rights of deploy/clusterrole.yaml"
}

// forbidden tells the refusal of somebody whom the cluster knows.
func forbidden(err error) bool {
	var status *kube.StatusError
	return errors.As(err, &status) && status.Code == http.StatusForbidden
}

// ofKubernetes tells the sources that are read of the Kubernetes API.
func ofKubernetes(source snapshot.Source) bool {
	switch source {
	case snapshot.Nodes, snapshot.AWSNode, snapshot.Pods, snapshot.AWSAuthMap, snapshot.CSRs, snapshot.NodeEventsOf, snapshot.ENIConfigsOf,
		snapshot.PersistentVolumes, snapshot.ClaimsOf, snapshot.WaitingPods:
		return true
	}
	return false
}

// inKubernetes is how a source of the Kubernetes API is read; nil for others.
func (l *look) inKubernetes(source snapshot.Source) func(context.Context) (store, error) {
	if !ofKubernetes(source) {
		return nil
	}
	if l.kubernetes.err != nil {
		return func(context.Context) (store, error) { return nil, l.kubernetes.err }
	}
	client := l.kubernetes.client
	switch source {
	case snapshot.Nodes:
		return func(ctx context.Context) (store, error) {
			list, err := client.Nodes(ctx)
			return keep(each(list, node), err, func(n snapshot.Node) string { return n.Name }, func(s *snapshot.Snapshot) *[]snapshot.Node { return &s.Nodes })
		}
	case snapshot.Pods:
		return func(ctx context.Context) (store, error) {
			list, err := client.CNIPods(ctx)
			return keep(each(list, pod), err, func(p snapshot.Pod) string { return p.Namespace + "/" + p.Name }, func(s *snapshot.Snapshot) *[]snapshot.Pod { return &s.Pods })
		}
	case snapshot.PersistentVolumes:
		return func(ctx context.Context) (store, error) {
			list, err := client.PersistentVolumes(ctx)
			return keep(each(list, persistentVolume), err, func(p snapshot.PersistentVolume) string { return p.Name }, func(s *snapshot.Snapshot) *[]snapshot.PersistentVolume { return &s.PersistentVolumes })
		}
	case snapshot.ClaimsOf:
		return func(ctx context.Context) (store, error) {
			list, err := client.PersistentVolumeClaims(ctx)
			return keep(each(list, claim), err, snapshot.Claim.Key, func(s *snapshot.Snapshot) *[]snapshot.Claim { return &s.Claims })
		}
	case snapshot.WaitingPods:
		return func(ctx context.Context) (store, error) {
			list, err := client.WaitingPods(ctx)
			return keep(waitingPods(list), err, snapshot.WaitingPod.Key, func(s *snapshot.Snapshot) *[]snapshot.WaitingPod { return &s.WaitingPods })
		}
	case snapshot.CSRs:
		return func(ctx context.Context) (store, error) {
			list, err := client.CSRs(ctx)
			if forbidden(err) {
				err = notGrantedError{"certificate signing requests"}
			}
			return keep(each(list, csr), err, func(c snapshot.CSR) string { return c.Name }, func(s *snapshot.Snapshot) *[]snapshot.CSR { return &s.CSRs })
		}
	case snapshot.NodeEventsOf:
		return func(ctx context.Context) (store, error) {
			list, err := client.NodeEvents(ctx)
			return keepEvents(each(list, nodeEvent), err)
		}
	case snapshot.AWSAuthMap:
		return func(ctx context.Context) (store, error) { return readAWSAuth(ctx, client) }
	case snapshot.ENIConfigsOf:
		return func(ctx context.Context) (store, error) { return l.eniConfigs(ctx, client) }
	}
	return func(ctx context.Context) (store, error) { return readCNI(ctx, client) }
}
