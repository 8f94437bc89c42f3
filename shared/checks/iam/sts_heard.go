package iam

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

// heard is a line that an instance wrote, or that Kubernetes has of the
// aws-node pod on it.
type heard struct {
	from string // "console of i-0ef3", "pod aws-node-x"
	line string
}

// listen finds the first line about an instance that has what is looked for.
// Unread tells what could not be listened to.
func listen(s *facts.View, i *snapshot.Instance, has func(line string) bool) (h heard, found bool, unread []snapshot.Failure) {
	for _, c := range s.Consoles {
		if c.Instance != i.ID {
			continue
		}
		if line, ok := lineWith(c.Text, has); ok {
			return heard{"console of " + i.ID, line}, true, nil
		}
	}
	for _, p := range s.PodsOf()[i.ID] {
		texts := []string{p.Message}
		for _, c := range p.Containers {
			texts = append(texts, c.Message, c.LastMessage)
		}
		for _, text := range texts {
			if line, ok := lineWith(text, has); ok {
				return heard{"pod " + p.Name, line}, true, nil
			}
		}
	}
	for _, source := range []snapshot.Source{snapshot.Consoles, snapshot.Pods} {
		if !s.Has(source) {
			unread = append(unread, s.Why(source))
		}
	}
	if f, lacks := s.Lacks(snapshot.Consoles, i.ID); lacks {
		unread = append(unread, f)
	}
	return heard{}, false, unread
}

func lineWith(text string, has func(string) bool) (string, bool) {
	for line := range strings.Lines(text) {
		if has(line) {
			return phrase.Clip(strings.TrimSpace(line)), true
		}
	}
	return "", false
}

// stsHost is the name of STS in the region; global is the one for all regions.
func stsHost(s *facts.View) (regional, global string) {
	if s.Partition == "aws-cn" {
		regional = fmt.Sprintf("sts.%s.amazonaws.com.cn", s.Region)
		return regional, regional // China has no global one
	}
	return fmt.Sprintf("sts.%s.amazonaws.com", s.Region), "sts.amazonaws.com"
}

// stsFailed tells that a line is about a call to STS that did not get there.
func stsFailed(host string) func(string) bool {
	return func(line string) bool {
		return namesHost(line, host) && slices.ContainsFunc([]string{"timeout", "timed out", "no such host", "connection refused", "deadline exceeded", "network is unreachable"}, func(word string) bool {
			return strings.Contains(strings.ToLower(line), word)
		})
	}
}

// namesHost tells that a line names a host, not one that ends in its name.
func namesHost(line, host string) bool {
	for rest := line; ; {
		i := strings.Index(rest, host)
		if i < 0 {
			return false
		}
		before, after := rest[:i], rest[i+len(host):]
		if (before == "" || !strings.ContainsAny(before[len(before)-1:], "abcdefghijklmnopqrstuvwxyz0123456789-.")) && !strings.HasPrefix(after, ".cn") {
			return true
		}
		rest = after
	}
}
