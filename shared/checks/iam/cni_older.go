package iam

import (
	"strings"

	"rollcall/shared/checks/facts"
)

// before is the identity of a pod of aws-node that was made before its service
// account had a role: the webhook gives a pod its credentials when it is made,
// and one without uses those of its node.
func (who cniIdentity) before() cniIdentity {
	return cniIdentity{how: "the node's own role: the pod was made before " + who.how + " was set", later: who.role}
}

// olderPods parts the suspects whose pod of aws-node tells that it has no role
// of its own from the others. A pod whose containers were not read tells nothing.
func olderPods(s *facts.View, list []facts.RoleGroup) (rest, older []facts.RoleGroup) {
	without := map[string]bool{} // by the node's name
	for _, p := range s.Pods {
		if strings.HasPrefix(p.Name, "aws-node") && p.Identity.Told {
			without[p.Node] = p.Identity.Role == "" && !p.Identity.ByAssociation
		}
	}
	nodes := s.Index().Nodes
	for _, c := range list {
		kept, old := c, c
		kept.Suspects, old.Suspects, old.Well = nil, nil, nil
		for _, i := range c.Suspects {
			if n := nodes[i.ID]; n != nil && without[n.Name] && !auto(s, i) {
				old.Suspects = append(old.Suspects, i)
				continue
			}
			kept.Suspects = append(kept.Suspects, i)
		}
		rest = append(rest, kept)
		if len(old.Suspects) > 0 {
			older = append(older, old)
		}
	}
	return rest, older
}
