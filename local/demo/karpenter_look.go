package demo

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"rollcall/local/fakeslack"
	"rollcall/local/simaws/worldfile"
)

// apply brings the one pod of a workload that wants the nodes of a NodePool.
func (st *karpenterStory) apply(namespace, name, pool string) error {
	return st.stage.World.Apply(cluster, worldfile.SetFile{Namespace: namespace, Name: name, NodeSelector: map[string]string{"karpenter.sh/nodepool": pool}})
}

// told waits for the message that says some things, and tells how long it took.
func (st *karpenterStory) told(ctx context.Context, n *narrator, parts ...string) (fakeslack.Message, error) {
	began := st.stage.Clock.Now()
	var m fakeslack.Message
	if err := n.wait(ctx, "waiting for the message about "+parts[0], func() (bool, error) {
		var said bool
		m, said = messageWith(st.stage, parts...)
		return said && !strings.Contains(everything(m), "✅"), nil
	}); err != nil {
		return m, err
	}
	n.say("Slack, %s later: %s", st.stage.Clock.Now().Sub(began).Round(time.Second), firstLine(everything(m)))
	return m, nil
}

// over waits until a message is resolved, and the pod runs that was waiting.
func (st *karpenterStory) over(ctx context.Context, n *narrator, m fakeslack.Message, namespace, pod string) error {
	began := st.stage.Clock.Now()
	if err := n.wait(ctx, "waiting for the message to be resolved", func() (bool, error) {
		for _, now := range shown(st.stage) {
			if now.TS == m.TS {
				m = now
			}
		}
		return strings.Contains(everything(m), "✅"), nil
	}); err != nil {
		return err
	}
	n.say("the same message, %s later, resolved by itself: %s", st.stage.Clock.Now().Sub(began).Round(time.Second), firstLine(everything(m)))
	if pod == "" {
		return nil
	}
	var node string
	if err := n.wait(ctx, "waiting for the pod", func() (bool, error) {
		p, err := st.object("pods", pod)
		node = p.Spec.NodeName
		return p.Metadata.Namespace == namespace && p.Status.Phase == "Running", err
	}); err != nil {
		return err
	}
	n.say("%s/%s runs on %s", namespace, pod, node)
	return nil
}

// kubeObject is what the story looks at of an object.
type kubeObject struct {
	Metadata struct{ Name, Namespace string }
	Spec     struct {
		NodeName     string
		NodeClassRef struct{ Name string }
	}
	Status struct {
		Phase      string
		Conditions []struct{ Type, Status, Reason string }
	}
	InvolvedObject struct{ Name string }
	Type           string
}

// says is a condition with its reason.
func (o kubeObject) says(kind string) string {
	for _, c := range o.Status.Conditions {
		if c.Type == kind {
			return c.Status + " " + c.Reason
		}
	}
	return ""
}

func (st *karpenterStory) objects(plural string) ([]kubeObject, error) {
	list, err := st.stage.World.Kubernetes(cluster, plural)
	if err != nil {
		return nil, err
	}
	var out []kubeObject
	for _, item := range list.Items {
		var o kubeObject
		if err := json.Unmarshal(item, &o); err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// object is one by its name, empty where there is none.
func (st *karpenterStory) object(plural, name string) (kubeObject, error) {
	all, err := st.objects(plural)
	for _, o := range all {
		if o.Metadata.Name == name {
			return o, err
		}
	}
	return kubeObject{}, err
}

// two are a class and the NodeClaim of it, if there is one.
func (st *karpenterStory) two(class string) (claim, of kubeObject, err error) {
	claims, err := st.objects("nodeclaims")
	if err != nil {
		return claim, of, err
	}
	for _, o := range claims {
		if o.Spec.NodeClassRef.Name == class {
			claim = o
		}
	}
	of, err = st.object("ec2nodeclasses", class)
	return claim, of, err
}

// warnings counts the events of trouble about an object.
func (st *karpenterStory) warnings(name string) int {
	events, err := st.objects("events")
	if err != nil {
		return -1
	}
	n := 0
	for _, e := range events {
		if e.InvolvedObject.Name == name && e.Type == "Warning" {
			n++
		}
	}
	return n
}

// channel is all that is said.
func (st *karpenterStory) channel() string {
	var b strings.Builder
	for _, m := range shown(st.stage) {
		b.WriteString(everything(m) + "\n")
	}
	return b.String()
}
