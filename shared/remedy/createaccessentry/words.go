package createaccessentry

import (
	"fmt"

	"rollcall/shared/remedy/action"
	"strings"
)

func words(a Plan, at action.Place) action.Words {
	name := a.Principal[strings.LastIndexByte(a.Principal, '/')+1:]
	by := ""
	if len(a.LaunchedBy) > 0 {
		by = " Its instances were launched by " + action.And(a.LaunchedBy) + "."
	}
	return action.Words{
		Title:    fmt.Sprintf("Make an access entry %s for %s", a.Type, name),
		Steps:    []string{fmt.Sprintf("Make an access entry of type %s for %s in %s: no groups, no policy.%s", a.Type, a.Principal, at.Cluster, by)},
		Commands: []string{at.AWS("eks create-access-entry", "--cluster-name", at.Cluster, "--principal-arn", a.Principal, "--type", a.Type)},
		Undo:     []string{at.AWS("eks delete-access-entry", "--cluster-name", at.Cluster, "--principal-arn", a.Principal)},
		Cost:     fmt.Sprintf("Whatever may take the role %s can join %s as a node.", name, at.Cluster),
	}
}
