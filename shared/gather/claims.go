package gather

import (
	"slices"
	"strings"

	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

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
	return distinct(zones)
}

func claim(c kube.PersistentVolumeClaim) snapshot.Claim {
	return snapshot.Claim{
		Namespace: c.Metadata.Namespace, Name: c.Metadata.Name, Phase: c.Status.Phase,
		Volume: c.Spec.VolumeName, Class: c.Spec.StorageClassName,
	}
}

func waitingPods(list []kube.WaitingPod) []snapshot.WaitingPod {
	list = slices.DeleteFunc(slices.Clone(list), func(p kube.WaitingPod) bool { return p.Spec.NodeName != "" })
	return each(list, waitingPod)
}

func waitingPod(p kube.WaitingPod) snapshot.WaitingPod {
	out := snapshot.WaitingPod{
		Namespace: p.Metadata.Namespace, Name: p.Metadata.Name, Created: p.Metadata.CreationTimestamp,
		Selector: p.Spec.NodeSelector, Gated: len(p.Spec.SchedulingGates) > 0,
	}
	for _, o := range p.Metadata.OwnerReferences {
		if o.Controller {
			out.Owner = o.Kind + " " + o.Name
		}
	}
	for _, c := range p.Status.Conditions {
		if c.Type == "PodScheduled" {
			out.Scheduled = snapshot.Condition{Status: c.Status, Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime}
		}
	}
	if r := p.Spec.Affinity.NodeAffinity.Required; r != nil {
		out.Terms = each(r.Terms, func(t kube.NodeSelectorTerm) snapshot.NodeTerm {
			return snapshot.NodeTerm{Labels: each(t.Labels, requirement), Fields: each(t.Fields, requirement)}
		})
	}
	for _, t := range p.Spec.Tolerations {
		out.Tolerations = append(out.Tolerations, snapshot.Toleration{Key: t.Key, Operator: t.Operator, Value: t.Value, Effect: t.Effect})
	}
	for _, v := range p.Spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			out.Claims = append(out.Claims, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			out.Claims = append(out.Claims, p.Metadata.Name+"-"+v.Name)
		}
	}
	out.Claims = distinct(out.Claims)
	return out
}

func requirement(r kube.Requirement) snapshot.Requirement {
	return snapshot.Requirement{Key: r.Key, Operator: r.Operator, Values: r.Values}
}
