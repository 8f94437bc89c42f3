package kubernetes

import (
	"context"

	"rollcall/shared/spec"

	"rollcall/shared/gather/source"
	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

// claims are the PersistentVolumeClaims of all namespaces.
func claims() source.Source {
	return source.Source{
		Name: snapshot.ClaimsOf,
		Kube: []spec.KubeRule{
			{Resources: []string{"persistentvolumeclaims"}, Verbs: []string{"list"}},
		},
		Read: withClient(func(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
			list, err := client.PersistentVolumeClaims(ctx)
			return source.Keep(source.Each(list, claim), err, snapshot.Claim.Key, func(s *snapshot.Snapshot) *[]snapshot.Claim { return &s.Claims })
		}),
	}
}

func claim(c kube.PersistentVolumeClaim) snapshot.Claim {
	return snapshot.Claim{
		Namespace: c.Metadata.Namespace, Name: c.Metadata.Name, Phase: c.Status.Phase,
		Volume: c.Spec.VolumeName, Class: c.Spec.StorageClassName,
	}
}
