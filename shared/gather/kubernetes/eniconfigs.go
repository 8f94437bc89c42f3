package kubernetes

import (
	"context"

	"rollcall/shared/network/address"
	"rollcall/shared/spec"

	"rollcall/shared/gather/source"

	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

// eniConfigs are where pods have their addresses.
func eniConfigs() source.Source {
	return source.Source{
		Name:  snapshot.ENIConfigsOf,
		Needs: []snapshot.Source{snapshot.AWSNode},
		Kube: []spec.KubeRule{
			{Group: "crd.k8s.amazonaws.com", Resources: []string{"eniconfigs"}, Verbs: []string{"list"}},
		},
		Read: withClient(func(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
			return readENIConfigs(ctx, v, client)
		}),
	}
}

// readENIConfigs asks for nothing without custom networking: then the objects do
// nothing.
func readENIConfigs(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
	if !v.Snapshot.Has(snapshot.AWSNode) {
		return nil, v.Unread(snapshot.AWSNode)
	}
	if !address.SettingsOf(v.Snapshot.CNI).Elsewhere {
		return source.Nothing, nil
	}
	list, err := client.ENIConfigs(ctx)
	if forbidden(err) {
		err = source.NotGrantedError{What: "ENIConfigs"}
	}
	return source.Keep(source.Each(list, eniConfig), err, func(x snapshot.ENIConfig) string { return x.Name },
		func(s *snapshot.Snapshot) *[]snapshot.ENIConfig { return &s.ENIConfigs })
}

func eniConfig(c kube.ENIConfig) snapshot.ENIConfig {
	return snapshot.ENIConfig{Name: c.Metadata.Name, Subnet: c.Spec.Subnet, Groups: c.Spec.SecurityGroups}
}
