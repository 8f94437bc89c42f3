package plan

import (
	"fmt"
	"strings"
)

func (p Plan) accessWords(a Access) words {
	name := a.Principal[strings.LastIndexByte(a.Principal, '/')+1:]
	by := ""
	if len(a.LaunchedBy) > 0 {
		by = " Its instances were launched by " + and(a.LaunchedBy) + "."
	}
	return words{
		title:    fmt.Sprintf("Make an access entry %s for %s", a.Type, name),
		steps:    []string{fmt.Sprintf("Make an access entry of type %s for %s in %s: no groups, no policy.%s", a.Type, a.Principal, p.Cluster, by)},
		commands: []string{p.aws("eks create-access-entry", "--cluster-name", p.Cluster, "--principal-arn", a.Principal, "--type", a.Type)},
		undo:     []string{p.aws("eks delete-access-entry", "--cluster-name", p.Cluster, "--principal-arn", a.Principal)},
		cost:     fmt.Sprintf("Whatever may take the role %s can join %s as a node.", name, p.Cluster),
	}
}
