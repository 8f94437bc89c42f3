package iam

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

// regionDisabled is STS's code for a region that the account has switched off.
const regionDisabled = "RegionDisabledException"

func STSRegionDeactivated() check.Check {
	return usingRoles(check.Check{
		ID:         checkid.IAMSTSRegionDeactivated,
		Title:      "STS is switched off in this region",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Instances},
		Cause: "In the account's settings, STS is deactivated for the region of the cluster. Kubelets prove who they are by STS, so the API server refuses every one of them. " +
			"No API tells the setting: the evidence is what STS answered to the node, to aws-node or to Rollcall itself (RegionDisabledException), or EKS's own health issue.",
		Fix: "Activate STS for the region: IAM console, Account settings, Security Token Service. The nodes that wait join by themselves.",
		Links: []string{
			"https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_temp_enable-regions.html",
			"https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html",
		},
		Run: func(s *facts.View) []finding.Finding {
			suspects, well := s.Suspects()
			var list []finding.Finding
			var clean, unheard []*snapshot.Instance
			f := finding.Finding{Outcome: finding.Fail}
			told := regionTold(s)
			for _, i := range suspects {
				h, found, unread := listen(s, i, saysDisabled)
				switch {
				case found:
					f.Covers = append(f.Covers, i.ID)
					f.Evidence = append(f.Evidence, finding.Evidence{What: h.from, Value: h.line})
				case len(told) > 0: // the setting is the account's: it is true for all
					f.Covers = append(f.Covers, i.ID)
				case len(unread) > 0:
					list = append(list, finding.Finding{Outcome: finding.Unknown, Resource: i.ID, Covers: []string{i.ID}, Blocked: unread})
				case !hasConsole(s, i.ID): // consoles are sampled
					unheard = append(unheard, i)
				default:
					clean = append(clean, i)
				}
			}
			list = facts.Together(list)
			if len(f.Covers) > 0 {
				f.Covers = append(f.Covers, facts.IDs(unheard)...)
			} else {
				clean = append(clean, unheard...)
			}
			host, _ := stsHost(s)
			if clean = append(clean, well...); len(clean) > 0 {
				list = append(list, finding.Finding{Outcome: finding.Pass, Resource: host, Covers: facts.IDs(clean)})
			}
			if len(f.Covers) == 0 {
				return list
			}
			f.Resource, f.Instances = host, f.Covers
			f.Evidence = append(told, f.Evidence[:min(len(f.Evidence), 5)]...)
			f.Title = phrase.Title("STS is switched off in %s", s.Region)
			f.Why = fmt.Sprintf("STS refuses the account %s in %s (%s: %s). %s cannot prove to %s who %s.",
				s.Account, s.Region, f.Evidence[0].What, f.Evidence[0].Value, phrase.Some(f.Covers, 3), cmp.Or(s.Cluster.Name, "the cluster"), phrase.Verb(f.Covers, "it is", "they are"))
			f.Fix = finding.Fix{
				Text:    fmt.Sprintf("Activate %s in the IAM console: Account settings, Security Token Service, Endpoints. There is no API for it.", s.Region),
				Console: fmt.Sprintf("%s/iam/home?region=%s#/account_settings", link.Host(s), s.Region),
			}
			return append(list, f)
		},
	})
}

// hasConsole tells that the console of an instance was read.
func hasConsole(s *facts.View, id string) bool {
	return slices.ContainsFunc(s.Consoles, func(c snapshot.Console) bool { return c.Instance == id })
}

// saysDisabled tells STS's refusal: its error code, or its message where a
// program prints only that.
func saysDisabled(line string) bool {
	return strings.Contains(line, regionDisabled) || strings.Contains(strings.ToLower(line), "sts is not activated in this region")
}

// regionTold is what our own calls and EKS say of the region.
func regionTold(s *facts.View) []finding.Evidence {
	var list []finding.Evidence
	add := func(f snapshot.Failure) {
		e := finding.Evidence{What: cmp.Or(f.Call, string(f.Source)), Value: strings.TrimSpace(f.Code + " " + phrase.Clip(f.Message))}
		if f.Code == regionDisabled && !slices.Contains(list, e) {
			list = append(list, e)
		}
	}
	for _, source := range slices.Sorted(maps.Keys(s.Failures)) {
		add(s.Failures[source])
	}
	for _, source := range slices.Sorted(maps.Keys(s.Missing)) {
		for _, key := range slices.Sorted(maps.Keys(s.Missing[source])) {
			add(s.Missing[source][key])
		}
	}
	issues := slices.Clone(s.Cluster.Issues)
	for _, g := range s.Nodegroups {
		if g.Cluster == s.Cluster.Name {
			issues = append(issues, g.Issues...)
		}
	}
	for _, issue := range issues {
		if issue.Code == "StsRegionalEndpointDisabled" {
			list = append(list, finding.Evidence{What: "EKS", Value: issue.Code + ": " + phrase.Clip(issue.Message)})
		}
	}
	return list[:min(len(list), 5)]
}
