package node

import (
	"cmp"
	"fmt"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

func Uninitialized() check.Check {
	return check.Check{
		ID:         checkid.NodeUninitialized,
		Title:      "The cloud provider has not initialised the node",
		Confidence: finding.Likely,
		Needs:      []snapshot.Source{snapshot.Nodes},
		After:      []checkid.ID{checkid.DNSDHCPOptions, checkid.DNSHostnamesOff, checkid.InstanceClusterTag},
		Cause:      "The node registered and keeps the taint node.cloudprovider.kubernetes.io/uninitialized: the cluster's cloud controller finds no EC2 instance for it. Mostly the node's name is not the instance's private DNS name (DHCP options, a host name that user data sets), or its provider id is missing.",
		Fix:        "Let the node have the instance's private DNS name: DHCP options with one domain name or none, and no host name of its own. Then replace it.",
		Links: []string{
			"https://kubernetes.io/docs/reference/labels-annotations-taints/#node-cloudprovider-kubernetes-io-uninitialized",
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html",
		},
		Run: func(s *facts.View) []finding.Finding {
			l := s.Index()
			var well []string
			groups := map[string][]string{}
			var order []string
			for _, id := range s.Scope.Instances {
				n := l.Nodes[id]
				switch {
				case n == nil, l.Terminated(id), l.Leaving(id):
				case !n.Uninitialized:
					well = append(well, id)
				case l.Due(id):
					owner := id
					if i := l.Instances[id]; i != nil {
						owner = cmp.Or(i.Owner(), id)
					}
					if groups[owner] == nil {
						order = append(order, owner)
					}
					groups[owner] = append(groups[owner], id)
				}
			}
			var list []finding.Finding
			if len(well) > 0 {
				list = append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: well})
			}
			for _, owner := range order {
				list = append(list, uninitializedFinding(l, owner, groups[owner]))
			}
			return list
		},
	}
}

func uninitializedFinding(l facts.InstanceIndex, owner string, list []string) finding.Finding {
	f := finding.Finding{
		Outcome: finding.Fail, Resource: owner, Covers: list, Instances: append([]string(nil), list...),
		Title: phrase.Title("%s %s not initialised by the cloud provider", phrase.Subject(list, "node"), phrase.Verb(list, "is", "are")),
	}
	first := l.Nodes[list[0]]
	f.Why = fmt.Sprintf("%s registered and still has the taint node.cloudprovider.kubernetes.io/uninitialized: the cloud controller has found no instance for it.", first.Name)
	const limit = 5
	for n, id := range list {
		if n == limit {
			f.Evidence = append(f.Evidence, finding.Evidence{What: "Nodes", Value: fmt.Sprintf("and %d more", len(list)-limit)})
			break
		}
		value := "node " + l.Nodes[id].Name
		if i := l.Instances[id]; i != nil {
			value += ", private DNS name " + cmp.Or(i.PrivateDNS, "none")
			// The usual fault, where it can be seen.
			if id == list[0] && i.PrivateDNS != "" && i.PrivateDNS != first.Name && first.Name != i.ID {
				f.Why += fmt.Sprintf(" Its name is not the instance's private DNS name, %s.", i.PrivateDNS)
			}
		}
		f.Evidence = append(f.Evidence, finding.Evidence{What: id, Value: value})
	}
	f.Fix = finding.Fix{
		Text:    "Compare the node's name with the instance's private DNS name, and look at the DHCP options' domain names.",
		Command: shell.Command("kubectl", "get", "node", first.Name, "-o", "jsonpath={.spec.providerID} {.spec.taints}"),
		Console: link.EC2(l.S, "InstanceDetails:instanceId="+list[0]),
	}
	return f
}
