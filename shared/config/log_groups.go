package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// LogGroups are names of log groups of CloudWatch; one that ends in a star is how
// names begin.
type LogGroups []string

// Name tells that a log group is among them.
func (l LogGroups) Name(group string) bool {
	return slices.ContainsFunc(l, func(name string) bool {
		begin, open := strings.CutSuffix(name, "*")
		return name == group || open && strings.HasPrefix(group, begin)
	})
}

// MostLogGroups bounds the statement of the policy that they stand in.
const MostLogGroups = 20

// logGroup is CloudWatch's own rule for a name (botocore, logs/2014-03-28,
// LogGroupName). A star alone would be every log of the account.
var logGroup = regexp.MustCompile(`^[.\-_/#A-Za-z0-9]{3,512}\*?$`)

func parseLogGroups(text string) (LogGroups, error) {
	if text == "off" {
		return nil, nil
	}
	var list LogGroups
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if !logGroup.MatchString(name) {
			return nil, fmt.Errorf(`%q is no name of a log group, nor a begin of at least three characters with a "*" behind it`, name)
		}
		list = append(list, name)
	}
	slices.Sort(list)
	if list = slices.Compact(list); len(list) > MostLogGroups {
		return nil, fmt.Errorf("%d log groups are more than %d", len(list), MostLogGroups)
	}
	return list, nil
}
