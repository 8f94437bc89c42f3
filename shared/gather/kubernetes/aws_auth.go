package kubernetes

import (
	"context"

	"rollcall/shared/spec"

	"rollcall/shared/gather/source"
	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

// awsAuth is the ConfigMap that maps roles to users.
func awsAuth() source.Source {
	return source.Source{
		Name: snapshot.AWSAuthMap,
		Kube: []spec.KubeRule{
			{Namespace: "kube-system", Resources: []string{"configmaps"}, Names: []string{"aws-auth"}, Verbs: []string{"get"}},
		},
		Read: withClient(func(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
			return readAWSAuth(ctx, client)
		}),
	}
}

func readAWSAuth(ctx context.Context, client *kube.Client) (source.Store, error) {
	m, err := client.AWSAuth(ctx)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return source.Nothing, nil
	}
	return func(s *snapshot.Snapshot) {
		s.AWSAuth = &snapshot.AWSAuth{MapRoles: m.Data["mapRoles"], MapUsers: m.Data["mapUsers"]}
	}, nil
}
