package gather

import (
	"context"
	"strings"

	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

// roleAnnotation names the IAM role of a service account (IRSA).
const roleAnnotation = "eks.amazonaws.com/role-arn"

// askedError is a request that failed, for a source that takes several.
type askedError struct {
	call string
	err  error
}

func (e askedError) Error() string { return e.call + ": " + e.err.Error() }
func (e askedError) Unwrap() error { return e.err }

// accountCall is the second of the two requests for the CNI.
const accountCall = "kubernetes: get serviceaccount aws-node in kube-system"

// readCNI reads the DaemonSet and its service account. Without the second its
// role is not known, and none would look like the node's own.
func readCNI(ctx context.Context, client *kube.Client) (store, error) {
	set, err := client.CNIDaemonSet(ctx)
	if err != nil {
		return nil, err
	}
	if set == nil {
		return func(*snapshot.Snapshot) {}, nil
	}
	account, err := client.CNIServiceAccount(ctx)
	if err != nil {
		return nil, askedError{accountCall, err}
	}
	found := cni(*set, account)
	return func(s *snapshot.Snapshot) { s.CNI = &found }, nil
}

func cni(set kube.DaemonSet, account *kube.ServiceAccount) snapshot.CNI {
	out := snapshot.CNI{Desired: set.Status.DesiredNumberScheduled, Ready: set.Status.NumberReady, Env: map[string]string{}}
	for _, c := range set.Spec.Template.Spec.Containers {
		if c.Name != awsNode {
			continue
		}
		out.Image = c.Image
		for _, e := range c.Env {
			out.Env[e.Name] = e.Value
		}
	}
	if account != nil {
		out.Role = strings.TrimSpace(account.Metadata.Annotations[roleAnnotation])
	}
	return out
}

func readAWSAuth(ctx context.Context, client *kube.Client) (store, error) {
	m, err := client.AWSAuth(ctx)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return func(*snapshot.Snapshot) {}, nil
	}
	return func(s *snapshot.Snapshot) {
		s.AWSAuth = &snapshot.AWSAuth{MapRoles: m.Data["mapRoles"], MapUsers: m.Data["mapUsers"]}
	}, nil
}
