package text

import (
	"slices"
	"testing"

	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
)

// leftOut are codes of the SDK's lists that need no row, and why.
var leftOut = map[string]string{
	"Other":            "says nothing: the message beside it does",
	"ResourceNotFound": "is a code of many services, and does not say what: the message of a cluster's health names it",
}

// TestEveryIssueCodeHasARow holds that each code in which EKS reports on nodegroups,
// add-ons, clusters and updates is known: the lists are the SDK's own, so a newer SDK
// with a newer code is red here. (EC2's LaunchTemplateErrorCode is the answer of
// DeleteLaunchTemplateVersions alone, and in no launch.)
func TestEveryIssueCodeHasARow(t *testing.T) {
	lists := map[string][]string{
		"nodegroup": names(ekstypes.NodegroupIssueCode("").Values()),
		"add-on":    names(ekstypes.AddonIssueCode("").Values()),
		"cluster":   names(ekstypes.ClusterIssueCode("").Values()),
		"update":    names(ekstypes.ErrorCode("").Values()),
	}
	known := map[string]bool{}
	for of, codes := range lists {
		if len(codes) < 6 {
			t.Errorf("%d codes of a %s: the list is not whole", len(codes), of)
		}
		for _, code := range codes {
			known[code] = true
			got := Tell(`{"health": {"issues": [{"code": "` + code + `", "message": "some words"}]}}`)
			told := got.Meaning != unknown(facts{}).Meaning
			switch why := leftOut[code]; {
			case why == "" && !told:
				t.Errorf("%s of a %s has no row", code, of)
			case why != "" && told:
				t.Errorf("%s of a %s tells %q (%s), and is left out: %s", code, of, got.Check, got.Meaning, why)
			}
		}
	}
	for code := range leftOut {
		if !known[code] {
			t.Errorf("%s is left out, and is no code", code)
		}
	}
}

func names[T ~string](codes []T) []string {
	var list []string
	for _, c := range codes {
		list = append(list, string(c))
	}
	slices.Sort(list)
	return list
}
