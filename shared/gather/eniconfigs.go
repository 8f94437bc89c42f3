package gather

import (
	"context"

	"rollcall/shared/ipam"
	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

// eniConfigs reads where pods have their addresses. Without custom networking
// the objects do nothing, and are not asked for.
func (l *look) eniConfigs(ctx context.Context, client *kube.Client) (store, error) {
	if !l.s.Has(snapshot.AWSNode) {
		return nil, l.unread(snapshot.AWSNode)
	}
	if !ipam.SettingsOf(l.s.CNI).Elsewhere {
		return func(*snapshot.Snapshot) {}, nil
	}
	list, err := client.ENIConfigs(ctx)
	if forbidden(err) {
		err = notGrantedError{"ENIConfigs"}
	}
	return keep(each(list, eniConfig), err, func(c snapshot.ENIConfig) string { return c.Name }, func(s *snapshot.Snapshot) *[]snapshot.ENIConfig { return &s.ENIConfigs })
}

func eniConfig(c kube.ENIConfig) snapshot.ENIConfig {
	return snapshot.ENIConfig{Name: c.Metadata.Name, Subnet: c.Spec.Subnet, Groups: c.Spec.SecurityGroups}
}
