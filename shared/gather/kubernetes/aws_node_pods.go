package kubernetes

import (
	"context"

	"rollcall/shared/spec"

	"rollcall/shared/gather/source"
	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

// pods are those of aws-node.
func pods() source.Source {
	return source.Source{
		Name: snapshot.Pods,
		Kube: []spec.KubeRule{
			{Namespace: "kube-system", Resources: []string{"pods"}, Verbs: []string{"list"}},
		},
		Read: withClient(func(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
			list, err := client.CNIPods(ctx)
			return source.Keep(source.Each(list, pod), err, func(x snapshot.Pod) string { return x.Namespace + "/" + x.Name }, func(s *snapshot.Snapshot) *[]snapshot.Pod { return &s.Pods })
		}),
	}
}

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
