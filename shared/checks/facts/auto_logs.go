package facts

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/node/activity"
	"rollcall/shared/node/autolog"
	"rollcall/shared/snapshot"
)

// mostLogLines are told of one cause: a controller says the same again and again.
const mostLogLines = 3

// LogEvidence is what EKS Auto Mode logged of NodeClaims and instances, or why that is
// not known. Nothing is said where nobody was to look.
func LogEvidence(s *snapshot.Snapshot, names ...string) []finding.Evidence {
	l := s.AutoModeLogs
	if l == nil || !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(l.Names, name) }) {
		return nil
	}
	var list []finding.Evidence
	var told []string
	for _, r := range l.Records {
		if slices.Contains(told, r.Text) || !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(r.Names, name) }) {
			continue
		}
		if told = append(told, r.Text); len(told) > mostLogLines {
			list = append(list, finding.Evidence{What: "More", Value: "the logs of EKS Auto Mode have other lines about it"})
			break
		}
		list = append(list, finding.Evidence{What: "Log of EKS Auto Mode (" + component(r.Type) + ")", Value: fmt.Sprintf("%s %s: %s", phrase.ClockTime(r.At), r.Level, r.Text)})
	}
	return append(list, unreadLogs(s, len(list) > 0)...)
}

// unreadLogs says where logs go that nobody here reads, and that those which were read
// say nothing.
func unreadLogs(s *snapshot.Snapshot, found bool) []finding.Evidence {
	l := s.AutoModeLogs
	about := func(value string) []finding.Evidence {
		return []finding.Evidence{{What: "Logs of EKS Auto Mode", Value: value}}
	}
	f, failed := s.Failures[snapshot.AutoModeLogsOf]
	switch {
	case len(l.Deliveries) == 0 && failed:
		return about("not read: " + failure(f))
	case len(l.Deliveries) == 0:
		return about("nobody has them delivered: what its Karpenter, IPAM and storage say of this is not known")
	}
	var list []finding.Evidence
	var read []string
	for _, d := range l.Deliveries {
		what := "Logs of EKS Auto Mode (" + component(d.Type) + ")"
		switch {
		case d.Group == "":
			list = append(list, finding.Evidence{What: what, Value: "go to " + d.Destination + ", where Rollcall does not read"})
		case d.Unnamed:
			list = append(list, finding.Evidence{What: what, Value: fmt.Sprintf("go to the log group %s, which the setting autoModeLogs does not name", d.Group)})
		case d.Gone:
			list = append(list, finding.Evidence{What: what, Value: fmt.Sprintf("go to the log group %s, which is not there", d.Group)})
		case d.Failure != nil:
			list = append(list, finding.Evidence{What: what, Value: fmt.Sprintf("in the log group %s, not read: %s", d.Group, failure(*d.Failure))})
		default:
			read = append(read, component(d.Type))
		}
	}
	if len(read) > 0 && !found {
		value := "no warning and no error about it in those that are delivered (" + strings.Join(slices.Compact(read), ", ") + ")"
		if l.Cut {
			value += ", as far as they were read"
		}
		list = append(list, about(value)...)
	}
	return list
}

func failure(f snapshot.Failure) string {
	if f.Code == "" {
		return fmt.Sprintf("%s, %s", f.Call, f.Reason)
	}
	return fmt.Sprintf("%s, %s, %s", f.Call, f.Reason, f.Code)
}

// component is which of EKS Auto Mode's parts writes logs of a type.
func component(logType string) string {
	switch logType {
	case autolog.Compute:
		return "compute"
	case autolog.IPAM:
		return "IPAM"
	case autolog.BlockStorage:
		return "block storage"
	case autolog.LoadBalancing:
		return "load balancing"
	}
	return logType
}

// logged is what the log of EKS Auto Mode says of why nothing was launched for a
// NodeClaim: the newest line that tells a cause. A line is read as any text of
// Karpenter's is; one that tells only how something shows is none.
func (a *Attempts) logged(claim string) (class checkid.ID, line string, is bool) {
	if a.S.AutoModeLogs == nil {
		return "", "", false
	}
	for _, r := range slices.Backward(a.S.AutoModeLogs.Records) {
		if r.Type != autolog.Compute || r.Level != "ERROR" || !slices.Contains(r.Names, claim) {
			continue
		}
		if r.Cause.Family() != checkid.Launch || r.Cause == checkid.LaunchUnclassified {
			continue
		}
		line = r.Text
		// What EC2 itself said, in the form of AWS's SDK for Go.
		if _, said, is := strings.Cut(line, "api error "); is {
			line = said
		}
		return r.Cause, activity.Clean(line), true
	}
	return "", "", false
}
