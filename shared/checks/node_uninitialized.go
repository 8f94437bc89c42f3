package checks

import (
	"cmp"
	"fmt"

	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

func uninitialized() Check {
	return Check{
		ID:         "node/uninitialized",
		Title:      "The cloud provider has not initialised the node",
		Confidence: Likely,
		Needs:      []snapshot.Source{snapshot.Nodes},
		After:      []ID{"dns/dhcp-options", "dns/hostnames-off", "instance/cluster-tag"},
		Cause:      "The node registered and keeps the taint node.cloudprovider.kubernetes.io/uninitialized: the cluster's cloud controller finds no EC2 instance for it. Mostly the node's name is not the instance's private DNS name (DHCP options, a host name that user data sets), or its provider id is missing.",
		Fix:        "Let the node have the instance's private DNS name: DHCP options with one domain name or none, and no host name of its own. Then replace it.",
		Links: []string{
			"https://kubernetes.io/docs/reference/labels-annotations-taints/#node-cloudprovider-kubernetes-io-uninitialized",
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html",
		},
		Run: func(s *View) []Finding {
			l := s.Index()
			var well []string
			groups := map[string][]string{}
			var order []string
			for _, id := range s.Scope.Instances {
				n := l.nodes[id]
				switch {
				case n == nil, l.terminated(id), l.leaving(id):
				case !n.Uninitialized:
					well = append(well, id)
				case l.due(id):
					owner := id
					if i := l.instances[id]; i != nil {
						owner = cmp.Or(i.Owner(), id)
					}
					if groups[owner] == nil {
						order = append(order, owner)
					}
					groups[owner] = append(groups[owner], id)
				}
			}
			var list []Finding
			if len(well) > 0 {
				list = append(list, Finding{Outcome: Pass, Resource: s.Cluster.Name, Covers: well})
			}
			for _, owner := range order {
				list = append(list, l.uninitialized(owner, groups[owner]))
			}
			return list
		},
	}
}

func (l ledger) uninitialized(owner string, list []string) Finding {
	f := Finding{
		Outcome: Fail, Resource: owner, Covers: list, Instances: append([]string(nil), list...),
		Title: title("%s %s not initialised by the cloud provider", subject(list, "node"), verb(list, "is", "are")),
	}
	first := l.nodes[list[0]]
	f.Why = fmt.Sprintf("%s registered and still has the taint node.cloudprovider.kubernetes.io/uninitialized: the cloud controller has found no instance for it.", first.Name)
	const limit = 5
	for n, id := range list {
		if n == limit {
			f.Evidence = append(f.Evidence, Evidence{What: "Nodes", Value: fmt.Sprintf("and %d more", len(list)-limit)})
			break
		}
		value := "node " + l.nodes[id].Name
		if i := l.instances[id]; i != nil {
			value += ", private DNS name " + cmp.Or(i.PrivateDNS, "none")
			// The usual fault, where it can be seen.
			if id == list[0] && i.PrivateDNS != "" && i.PrivateDNS != first.Name && first.Name != i.ID {
				f.Why += fmt.Sprintf(" Its name is not the instance's private DNS name, %s.", i.PrivateDNS)
			}
		}
		f.Evidence = append(f.Evidence, Evidence{What: id, Value: value})
	}
	f.Fix = Fix{
		Text:    "Compare the node's name with the instance's private DNS name, and look at the DHCP options' domain names.",
		Command: shell.Command("kubectl", "get", "node", first.Name, "-o", "jsonpath={.spec.providerID} {.spec.taints}"),
		Console: ec2Console(l.s, "InstanceDetails:instanceId="+list[0]),
	}
	return f
}
