package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/world"
)

// ownWords are what EKS and Karpenter say of a world by themselves: what
// describe-nodegroup and kubectl print.
type ownWords struct {
	health     []string
	conditions []string
}

func wordsOf(w *world.World, cluster string) (ownWords, error) {
	var own ownWords
	groups, err := w.EKS().ListNodegroups(&eks.ListNodegroupsInput{ClusterName: aws.String(cluster)})
	if err != nil {
		return own, fmt.Errorf("list nodegroups: %w", err)
	}
	for _, name := range groups.Nodegroups {
		out, err := w.EKS().DescribeNodegroup(&eks.DescribeNodegroupInput{ClusterName: aws.String(cluster), NodegroupName: aws.String(name)})
		if err != nil {
			return own, fmt.Errorf("describe nodegroup %s: %w", name, err)
		}
		if out.Nodegroup.Health == nil {
			continue
		}
		for _, i := range out.Nodegroup.Health.Issues {
			own.health = append(own.health, fmt.Sprintf("%s: %s", i.Code, aws.ToString(i.Message)))
		}
	}
	for _, kind := range []string{"nodepools", "ec2nodeclasses", "nodeclasses", "nodeclaims"} {
		list, err := w.Kubernetes(cluster, kind)
		if errors.Is(err, kubestate.ErrNoKind) {
			continue
		}
		if err != nil {
			return own, fmt.Errorf("list %s: %w", kind, err)
		}
		for _, item := range list.Items {
			said, err := conditionsOf(item)
			if err != nil {
				return own, fmt.Errorf("%s: %w", kind, err)
			}
			own.conditions = append(own.conditions, said...)
		}
	}
	return own, nil
}

// conditionsOf are the conditions of an object that are not True, but for those that
// only add others up or say that nothing is to be done.
func conditionsOf(item []byte) ([]string, error) {
	var o struct {
		Kind   string
		Status struct {
			Conditions []struct{ Type, Status, Reason, Message string }
		}
	}
	if err := json.Unmarshal(item, &o); err != nil {
		return nil, fmt.Errorf("read an object: %w", err)
	}
	var list []string
	for _, c := range o.Status.Conditions {
		sums := []string{"Ready", "NodeClassReady", "Consolidatable", "Drifted"}
		if c.Status == "True" || slices.Contains(sums, c.Type) || c.Reason == "DependenciesNotReady" {
			continue
		}
		list = append(list, strings.TrimSuffix(fmt.Sprintf("%s %s=%s, %s: %s", o.Kind, c.Type, c.Status, c.Reason, c.Message), ": "))
	}
	return list, nil
}

const ownHead = `
## In their own words

What EKS says of a nodegroup's health, and Karpenter or EKS Auto Mode in the conditions of their objects, in the broken worlds in which either says anything;
conditions that only add others up are left out. Beside it the steps of the runbook that warn, and Rollcall's title.

| world | nodegroup health | conditions | runbook | Rollcall |
|---|---|---|---|---|
`

// ownTable shows the words of EKS and Karpenter beside the runbook's and Rollcall's.
func ownTable(b *strings.Builder, rows []row) {
	b.WriteString(ownHead)
	bad := of(rows, broken)
	health, conditions := 0, 0
	for _, r := range bad {
		if len(r.own.health) > 0 {
			health++
		}
		if len(r.own.conditions) > 0 {
			conditions++
		}
		if len(r.own.health)+len(r.own.conditions) > 0 {
			fmt.Fprintf(b, "%s%s |\n", r.ownHalf(), r.title())
		}
	}
	fmt.Fprintf(b, "\nOf the %d broken worlds a nodegroup's health says something in %d, and a condition of Karpenter's in %d.\n", len(bad), health, conditions)
}

// ownHalf is a row without Rollcall's cell: what a test makes anew.
func (r row) ownHalf() string {
	return fmt.Sprintf("| %s | %s | %s | %s | ", worldLink(r.name), cell(r.own.health), cell(r.own.conditions), r.theirCell())
}

func cell(list []string) string {
	if len(list) == 0 {
		return "—"
	}
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(strings.Join(list, "; "))
}

// title is how Rollcall's first incident begins its message.
func (r row) title() string {
	if len(r.ours.Incidents) == 0 {
		return "—"
	}
	first := r.ours.Incidents[0]
	return strings.ReplaceAll(fmt.Sprintf("%s: %s", first.Cause, first.Title), "|", `\|`)
}
