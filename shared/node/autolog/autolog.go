// Package autolog tells what to look for in the logs of EKS Auto Mode's managed
// components, and what a record of them says (EKS user guide, "Access AWS-Managed
// Component Logs For EKS Auto"). Records are untrusted texts: what is taken of one is
// bounded.
package autolog

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"rollcall/shared/lazyregexp"
	"rollcall/shared/node/activity"
	"rollcall/shared/snapshot"
)

// The types of logs. EKS has no others, as of 2026-11.
const (
	Compute       = "AUTO_MODE_COMPUTE_LOGS" // Karpenter
	IPAM          = "AUTO_MODE_IPAM_LOGS"    // the network plugin
	BlockStorage  = "AUTO_MODE_BLOCK_STORAGE_LOGS"
	LoadBalancing = "AUTO_MODE_LOAD_BALANCING_LOGS"
)

// Is reports whether a type of logs is one of EKS Auto Mode's.
func Is(logType string) bool {
	return slices.Contains([]string{Compute, IPAM, BlockStorage, LoadBalancing}, logType)
}

// Search is what to look for, and in which time.
type Search struct {
	// Names are NodeClaims and instances, Pattern what CloudWatch filters by.
	Names    []string
	Pattern  string
	From, To time.Time
	// Cut reports whether there are more names than go into a pattern.
	Cut bool
}

const (
	// mostNames go into one look: of a burst they all say the same.
	mostNames = 8
	// mostPattern is what FilterLogEvents takes (botocore, logs/2014-03-28,
	// FilterPattern).
	mostPattern = 1024
	// before is how long before a launch its NodeClaim was made, at most.
	before = 2 * time.Minute
	// longest is how far back a look goes: a NodeClaim has ended after 15 minutes, and
	// Rollcall gives an instance up after two hours (setting giveUp).
	longest = 2 * time.Hour
	// patience is how long a NodeClaim may wait for its launch: most take seconds.
	patience = time.Minute
)

// nameForm is that of NodeClaims (RFC 1123 subdomains) and instances: nothing in it
// means anything to a pattern.
var nameForm = lazyregexp.New(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)

// Wanted is what to look for of a snapshot: the instances of EKS Auto Mode in its
// scope that are no nodes, with their NodeClaims, and the NodeClaims that nothing was
// launched for. False where there is none: then no log is asked for.
func Wanted(s *snapshot.Snapshot) (Search, bool) {
	w := Search{From: s.Time, To: s.Time}
	if !s.Cluster.AutoMode {
		return w, false
	}
	joined := map[string]bool{}
	for _, n := range s.Nodes {
		joined[n.Instance] = n.Joined()
	}
	claims := map[string]string{}
	for _, c := range s.NodeClaims {
		if c.Instance != "" {
			claims[c.Instance] = c.Name
		}
	}
	for _, l := range s.Launches {
		if l.Claim != nil && claims[l.Instance] == "" {
			claims[l.Instance] = l.Claim.Name
		}
	}
	for _, c := range s.NodeClaims {
		l := c.Conditions["Launched"]
		if c.Class.Group == snapshot.AutoModeGroup && c.Instance == "" && l.Status != "True" && s.Time.Sub(l.Since) >= patience {
			w.add(l.Since, c.Name)
		}
	}
	for _, i := range s.Instances {
		if i.OfAutoMode() && slices.Contains(s.Scope.Instances, i.ID) && !joined[i.ID] {
			w.add(i.Launched, i.ID, claims[i.ID])
		}
	}
	if w.From = w.From.Add(-before); w.To.Sub(w.From) > longest {
		w.From = w.To.Add(-longest)
	}
	return w, len(w.Names) > 0
}

// add takes names into the search. Terms with a question mark are alternatives; what
// is not letters and digits alone stands in quotes (CloudWatch Logs user guide, "Filter
// pattern syntax for metric filters, subscription filters, filter log events").
func (w *Search) add(since time.Time, names ...string) {
	for _, name := range names {
		if !nameForm.MatchString(name) || slices.Contains(w.Names, name) {
			continue
		}
		term := `?"` + name + `"`
		if len(w.Names) == mostNames || len(w.Pattern)+1+len(term) > mostPattern {
			w.Cut = true
			return
		}
		w.Names, w.Pattern = append(w.Names, name), strings.TrimPrefix(w.Pattern+" "+term, " ")
		if !since.IsZero() && since.Before(w.From) {
			w.From = since
		}
	}
}

// mostRecord bounds what is read of a record (CloudWatch takes 1 MB).
const mostRecord = 64 << 10

// responseForm is what AWS's SDK for Go writes before the error of a service: new with
// each request.
var responseForm = lazyregexp.New(`https response error StatusCode: \d+, RequestID: [-0-9A-Za-z]*, `)

// Read reads a record; false for one that is no warning and no error, or names none of
// what was searched for. The fields are Karpenter's (zap), as AWS lists them for the
// delivery: level, message, error. In which case they are written no public sample
// tells.
func Read(logType string, at time.Time, message string, names []string) (snapshot.LogRecord, bool) {
	if len(message) > mostRecord {
		message = message[:mostRecord]
	}
	r := snapshot.LogRecord{At: at, Type: logType}
	for _, name := range names {
		if strings.Contains(message, name) {
			r.Names = append(r.Names, name)
		}
	}
	level, text := fields(message, 0)
	r.Level, r.Text = severity(level), activity.Clean(responseForm.ReplaceAllString(text, ""))
	return r, r.Level != "" && r.Text != "" && len(r.Names) > 0
}

// fields are the level and the words of a record: of JSON, or of a line that begins
// with a time and a level. A message may be JSON again.
func fields(message string, depth int) (level, text string) {
	var record map[string]any
	if depth < 2 && json.Unmarshal([]byte(message), &record) == nil {
		said := map[string]string{}
		for name, value := range record {
			if text, is := value.(string); is {
				said[strings.ToLower(name)] = text
			}
		}
		inner, words := fields(said["message"], depth+1)
		level = said["level"]
		if level == "" {
			level = inner
		}
		for _, name := range []string{"error", "err"} {
			if !strings.Contains(words, said[name]) {
				words += ": " + said[name]
			}
		}
		return level, strings.TrimPrefix(words, ": ")
	}
	words := strings.Fields(message)
	for i, word := range words[:min(len(words), 4)] {
		// "Reconciler error" begins with no level.
		if severity(word) != "" && word == strings.ToUpper(word) {
			return word, strings.Join(words[i+1:], " ")
		}
	}
	return "", message
}

// severity is ERROR or WARN; empty for what is neither (zap's levels).
func severity(level string) string {
	switch strings.ToUpper(strings.Trim(level, "[]:")) {
	case "ERROR", "DPANIC", "PANIC", "FATAL":
		return "ERROR"
	case "WARN", "WARNING":
		return "WARN"
	}
	return ""
}
