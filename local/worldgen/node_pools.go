package worldgen

import (
	"slices"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// nodeClass is the class of the NodePool.
const nodeClass = "default"

// operator marks what EKS Auto Mode manages.
func operator() *ec2types.OperatorResponse {
	managed, principal := true, "eks.amazonaws.com"
	return &ec2types.OperatorResponse{Managed: &managed, Principal: &principal}
}

// manage makes a launch template one of Auto Mode.
func (w *World) manage(template string) {
	find(w.File.EC2.LaunchTemplates, func(t *ec2types.LaunchTemplate) bool { return *t.LaunchTemplateId == template }).Operator = operator()
	v := find(w.File.EC2.LaunchTemplateVersions, func(v *ec2types.LaunchTemplateVersion) bool { return *v.LaunchTemplateId == template })
	v.Operator = operator()
	v.LaunchTemplateData.UserData = nil
}

// makeNodePool makes the NodePool of the young instances, its class and a NodeClaim
// for each of them, as Karpenter v1 writes them (pkg/apis of both repositories).
func (w *World) makeNodePool() {
	group, kind := "karpenter.k8s.aws", "EC2NodeClass"
	if w.Shape.Fleet == AutoMode {
		group, kind = "eks.amazonaws.com", "NodeClass"
	}
	ref := map[string]any{"group": group, "kind": kind, "name": nodeClass}
	since := w.long().UTC().Format(time.RFC3339)
	is := func(names ...string) []any {
		var list []any
		for _, name := range names {
			list = append(list, map[string]any{"type": name, "status": "True", "reason": name, "message": "", "observedGeneration": 1, "lastTransitionTime": since})
		}
		return list
	}
	k := w.File.Kubernetes[cluster]
	k.NodePools = []map[string]any{{
		"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": map[string]any{"name": w.nodegroup, "generation": 1, "creationTimestamp": since},
		"spec":   map[string]any{"template": map[string]any{"spec": map[string]any{"nodeClassRef": ref, "requirements": []any{}}}},
		"status": map[string]any{"conditions": is("ValidationSucceeded", "NodeClassReady", "Ready")},
	}}
	class := map[string]any{
		"apiVersion": group + "/v1", "kind": kind, "metadata": map[string]any{"name": nodeClass, "generation": 1, "creationTimestamp": since},
		"spec":   map[string]any{"role": "workers", "subnetSelectorTerms": []any{map[string]any{"id": w.Subnets[0]}}},
		"status": map[string]any{"conditions": is("SubnetsReady", "SecurityGroupsReady", "InstanceProfileReady", "ValidationSucceeded", "Ready")},
	}
	if w.Shape.Fleet == AutoMode {
		k.NodeClasses = []map[string]any{class}
	} else {
		k.EC2NodeClasses = []map[string]any{class}
	}
	for _, id := range w.Young {
		k.NodeClaims = append(k.NodeClaims, w.makeNodeClaim(id, ref))
	}
	w.File.Kubernetes[cluster] = k
}

func (w *World) makeNodeClaim(id string, ref map[string]any) map[string]any {
	in := w.instance(id)
	at := func(after time.Duration) string { return in.LaunchTime.Add(after).UTC().Format(time.RFC3339) }
	is := func(kind, since string) map[string]any {
		return map[string]any{"type": kind, "status": "True", "reason": kind, "message": "", "observedGeneration": 1, "lastTransitionTime": since}
	}
	return map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
		"metadata": map[string]any{"name": claimName(id), "generation": 1, "creationTimestamp": at(-2 * time.Second), "labels": map[string]any{"karpenter.sh/nodepool": w.nodegroup}},
		"spec":     map[string]any{"nodeClassRef": ref},
		"status": map[string]any{
			"providerID": "aws:///" + *w.subnet(*in.SubnetId).AvailabilityZone + "/" + id, "nodeName": w.nodeName(id),
			"conditions": []any{is("Launched", at(0)), is("Registered", at(45*time.Second)), is("Initialized", at(60*time.Second)), is("Ready", at(60*time.Second))},
		},
	}
}

func claimName(id string) string { return "workers-" + id[len(id)-5:] }

// unregister lets Karpenter wait for the nodes of instances: it knows no name of
// theirs, and says NodeNotFound (karpenter pkg/controllers/nodeclaim/lifecycle).
func (w *World) unregister(ids []string) {
	for _, c := range w.File.Kubernetes[cluster].NodeClaims {
		if !slices.ContainsFunc(ids, func(id string) bool { return nameOf(c) == claimName(id) }) {
			continue
		}
		status := c["status"].(map[string]any)
		delete(status, "nodeName")
		for _, condition := range status["conditions"].([]any) {
			said := condition.(map[string]any)
			switch said["type"] {
			case "Registered", "Initialized":
				said["status"], said["reason"], said["message"] = "Unknown", "NodeNotFound", "Node not registered with cluster"
			case "Ready":
				said["status"], said["reason"], said["message"] = "Unknown", "ReconcilingDependents", "Initialized=Unknown, Registered=Unknown"
			}
			if said["type"] != "Launched" {
				said["lastTransitionTime"] = c["metadata"].(map[string]any)["creationTimestamp"]
			}
		}
	}
}
