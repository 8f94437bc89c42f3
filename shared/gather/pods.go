package gather

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

func pod(p kube.Pod) snapshot.Pod {
	out := snapshot.Pod{
		Namespace: p.Metadata.Namespace,
		Name:      p.Metadata.Name,
		Node:      p.Spec.NodeName,
		Phase:     p.Status.Phase,
		Message:   p.Status.Message,
	}
	for _, c := range p.Status.InitContainerStatuses {
		converted := container(c)
		converted.Init = true
		out.Containers = append(out.Containers, converted)
	}
	for _, c := range p.Status.ContainerStatuses {
		out.Containers = append(out.Containers, container(c))
	}
	out.Identity = podCredentials(p)
	return out
}

// podCredentials are what the webhook put into the pod of aws-node (README of
// github.com/aws/amazon-eks-pod-identity-webhook): for a role of the service
// account AWS_ROLE_ARN and the volume aws-iam-token; for a Pod Identity
// association AWS_CONTAINER_CREDENTIALS_FULL_URI and the volume
// eks-pod-identity-token. It sees pods only when they are made.
func podCredentials(p kube.Pod) snapshot.PodCredentials {
	var c snapshot.PodCredentials
	for _, container := range p.Spec.Containers {
		if container.Name != "aws-node" {
			continue
		}
		c.Told = true
		for _, v := range container.Env {
			switch v.Name {
			case "AWS_ROLE_ARN":
				c.Role = v.Value
			case "AWS_CONTAINER_CREDENTIALS_FULL_URI":
				c.ByAssociation = true
			}
		}
	}
	for _, v := range p.Spec.Volumes {
		c.ByAssociation = c.ByAssociation || v.Name == "eks-pod-identity-token"
	}
	return c
}

func container(c kube.ContainerStatus) snapshot.Container {
	out := snapshot.Container{Name: c.Name, Ready: c.Ready, Restarts: c.RestartCount}
	switch s := c.State; {
	case s.Waiting != nil:
		out.State, out.Reason, out.Message = "waiting", s.Waiting.Reason, s.Waiting.Message
	case s.Terminated != nil:
		out.State, out.Reason, out.Message = "terminated", s.Terminated.Reason, s.Terminated.Message
		out.ExitCode = s.Terminated.ExitCode
	case s.Running != nil:
		out.State = "running"
	}
	if t := c.LastState.Terminated; t != nil {
		out.Last, out.LastMessage = t.Reason, t.Message
		if out.Last == "" {
			out.Last = "Terminated" // empty would say that it never ended
		}
		if out.State != "terminated" {
			out.ExitCode = t.ExitCode
		}
	}
	return out
}

func csr(c kube.CSR) snapshot.CSR {
	out := snapshot.CSR{Name: c.Metadata.Name, Signer: c.Spec.SignerName, Username: c.Spec.Username, Created: c.Metadata.CreationTimestamp}
	for _, condition := range c.Status.Conditions {
		switch condition.Type {
		case "Approved":
			out.Approved = true
		case "Denied":
			out.Denied = true
		}
	}
	return out
}

func nodeEvent(e kube.Event) snapshot.NodeEvent {
	out := snapshot.NodeEvent{Node: e.InvolvedObject.Name, Reason: e.Reason, Message: e.Message}
	times := []time.Time{e.LastTimestamp, e.EventTime}
	if e.Series != nil {
		times = append(times, e.Series.LastObservedTime)
	}
	for _, t := range times {
		if t.After(out.Last) {
			out.Last = t
		}
	}
	if out.Last.IsZero() {
		out.Last = e.Metadata.CreationTimestamp
	}
	return out
}

// keepEvents stores the events by node, in the order in which they happened.
func keepEvents(list []snapshot.NodeEvent, err error) (store, error) {
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b snapshot.NodeEvent) int {
		return cmp.Or(strings.Compare(a.Node, b.Node), a.Last.Compare(b.Last), strings.Compare(a.Reason, b.Reason))
	})
	return func(s *snapshot.Snapshot) { s.NodeEvents = list }, nil
}
