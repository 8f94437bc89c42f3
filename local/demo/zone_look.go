package demo

import (
	"encoding/json"
	"strings"
)

// channel is all that is said.
func (st *zoneStory) channel() string {
	var b strings.Builder
	for _, m := range shown(st.stage) {
		b.WriteString(everything(m) + "\n")
	}
	return b.String()
}

// zonePodState is where a pod is, or why it is nowhere.
type zonePodState struct{ phase, zone, why string }

// pods are those of the story's namespace, by name.
func (st *zoneStory) pods() (map[string]zonePodState, error) {
	zones := map[string]string{}
	nodes, err := st.stage.World.Kubernetes(cluster, "nodes")
	if err != nil {
		return nil, err
	}
	for _, item := range nodes.Items {
		var node struct {
			Metadata struct {
				Name   string
				Labels map[string]string
			}
		}
		if err := json.Unmarshal(item, &node); err != nil {
			return nil, err
		}
		zones[node.Metadata.Name] = node.Metadata.Labels["topology.kubernetes.io/zone"]
	}
	list, err := st.stage.World.Kubernetes(cluster, "pods")
	if err != nil {
		return nil, err
	}
	out := map[string]zonePodState{}
	for _, item := range list.Items {
		var pod struct {
			Metadata struct{ Name, Namespace string }
			Spec     struct{ NodeName string }
			Status   struct {
				Phase      string
				Conditions []struct{ Type, Status, Message string }
			}
		}
		if err := json.Unmarshal(item, &pod); err != nil {
			return nil, err
		}
		namespace, _, _ := strings.Cut(zoneClaim, "/")
		if pod.Metadata.Namespace != namespace {
			continue
		}
		p := zonePodState{phase: pod.Status.Phase, zone: zones[pod.Spec.NodeName]}
		for _, c := range pod.Status.Conditions {
			if c.Type == "PodScheduled" && c.Status == "False" {
				p.why = c.Message
			}
		}
		out[pod.Metadata.Name] = p
	}
	return out, nil
}
