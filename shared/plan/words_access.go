package plan

import (
	"fmt"
	"strings"
)

func (p Plan) accessWords(a Access) words {
	name := a.Principal[strings.LastIndexByte(a.Principal, '/')+1:]
	return words{
		title:    fmt.Sprintf("Make an access entry %s for %s", a.Type, name),
		steps:    []string{fmt.Sprintf("Make an access entry of type %s for %s in %s: no groups, no policy.", a.Type, a.Principal, p.Cluster)},
		commands: []string{fmt.Sprintf("aws eks create-access-entry --region %s --cluster-name %s --principal-arn %s --type %s", p.Region, p.Cluster, a.Principal, a.Type)},
		undo:     []string{fmt.Sprintf("aws eks delete-access-entry --region %s --cluster-name %s --principal-arn %s", p.Region, p.Cluster, a.Principal)},
		cost:     fmt.Sprintf("Whatever may take the role %s can join %s as a node.", name, p.Cluster),
	}
}
