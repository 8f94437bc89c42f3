package kubernetes

import (
	"context"
	"strings"

	"rollcall/shared/spec"

	"rollcall/shared/gather/source"
	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

// awsNodes is the VPC CNI's DaemonSet, with the role of its service account.
func awsNodes() source.Source {
	return source.Source{
		Name: snapshot.AWSNode,
		Kube: []spec.KubeRule{
			{Namespace: "kube-system", Group: "apps", Resources: []string{"daemonsets"}, Names: []string{"aws-node"}, Verbs: []string{"get"}},
			{Namespace: "kube-system", Resources: []string{"serviceaccounts"}, Names: []string{"aws-node"}, Verbs: []string{"get"}},
		},
		Read: withClient(func(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
			return readCNI(ctx, v, client)
		}),
	}
}

// roleAnnotation names the IAM role of a service account (IRSA).
const roleAnnotation = "eks.amazonaws.com/role-arn"

// readCNI reads the DaemonSet and its service account. Without the second its
// role is not known, and none would look like the node's own.
func readCNI(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
	set, err := client.CNIDaemonSet(ctx)
	if err != nil {
		return nil, err
	}
	if set == nil {
		return source.Nothing, nil
	}
	account, err := client.CNIServiceAccount(ctx)
	if err != nil {
		return nil, source.CallError{Call: source.Request(v.Source.Kube[1]), Err: err}
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
