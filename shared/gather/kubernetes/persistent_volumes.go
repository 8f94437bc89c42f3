package kubernetes

import (
	"context"
	"slices"
	"strings"

	"rollcall/shared/spec"

	"rollcall/shared/gather/source"
	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

// persistentVolumes are the cluster's.
func persistentVolumes() source.Source {
	return source.Source{
		Name: snapshot.PersistentVolumes,
		Kube: []spec.KubeRule{
			{Resources: []string{"persistentvolumes"}, Verbs: []string{"list"}},
		},
		Read: withClient(func(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
			list, err := client.PersistentVolumes(ctx)
			return source.Keep(source.Each(list, persistentVolume), err, func(x snapshot.PersistentVolume) string { return x.Name },
				func(s *snapshot.Snapshot) *[]snapshot.PersistentVolume { return &s.PersistentVolumes })
		}),
	}
}

// The drivers whose volumes are EBS volumes: the CSI driver, and that of EKS
// Auto Mode.
const (
	ebsDriver     = "ebs.csi.aws.com"
	ebsAutoDriver = "ebs.csi.eks.amazonaws.com"
)

// zoneLabels are the labels by which a PersistentVolume is tied to a zone, by
// driver and version.
func zoneLabels() []string {
	return []string{
		"topology.kubernetes.io/zone", "topology.ebs.csi.aws.com/zone", "topology.ebs.csi.eks.amazonaws.com/zone",
		"failure-domain.beta.kubernetes.io/zone",
	}
}

func persistentVolume(p kube.PersistentVolume) snapshot.PersistentVolume {
	out := snapshot.PersistentVolume{Name: p.Metadata.Name, Phase: p.Status.Phase, Class: p.Spec.StorageClassName}
	if c := p.Spec.ClaimRef; c != nil && c.Name != "" {
		out.Claim = c.Namespace + "/" + c.Name
	}
	switch {
	case p.Spec.CSI != nil && (p.Spec.CSI.Driver == ebsDriver || p.Spec.CSI.Driver == ebsAutoDriver):
		out.Volume = volumeID(p.Spec.CSI.VolumeHandle)
	case p.Spec.AWS != nil:
		out.Volume = volumeID(p.Spec.AWS.VolumeID)
	}
	if a := p.Spec.NodeAffinity; a != nil && a.Required != nil {
		out.Zones = zonesOf(a.Required.Terms)
	}
	return out
}

// volumeID takes the id out of "vol-0abc" or "aws://us-east-1a/vol-0abc".
func volumeID(handle string) string {
	id := handle[strings.LastIndex(handle, "/")+1:]
	number, ok := strings.CutPrefix(id, "vol-")
	if !ok || number == "" || strings.Trim(number, "0123456789abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}
	return id
}

// zonesOf are the zones that a node affinity allows. One of its terms must
// hold: where one names no zone, all zones are allowed, and nil is returned.
func zonesOf(terms []kube.NodeSelectorTerm) []string {
	var zones []string
	for _, t := range terms {
		var allowed []string
		for _, r := range t.Labels {
			if slices.Contains(zoneLabels(), r.Key) && r.Operator == "In" {
				allowed = append(allowed, r.Values...)
			}
		}
		if len(allowed) == 0 {
			return nil
		}
		zones = append(zones, allowed...)
	}
	return source.Distinct(zones)
}
