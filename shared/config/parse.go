package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/shared/spoke"
)

func required(text string) (string, error) {
	if text == "" {
		return "", errMissing
	}
	return text, nil
}

// clusterName is EKS's own rule for a cluster's name (CreateCluster).
var clusterName = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$`)

// isCluster tells a cluster's name, with its account and region where it is a spoke's.
func isCluster(text string) bool {
	c, err := spoke.ParseCluster(text)
	return err == nil && clusterName.MatchString(c.Name)
}

func parseClusters(text string) ([]string, error) {
	if text == "" {
		return nil, errMissing
	}
	if text == "all" {
		return nil, nil
	}
	var names []string
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if !isCluster(name) {
			return nil, fmt.Errorf("%q is not a cluster name", name)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// channelID is the form of Slack's ids of public (C), private (G) and direct
// (D) channels. Names do not work: chat.update takes only ids.
var channelID = regexp.MustCompile(`^[CGD][A-Z0-9]{2,30}$`)

func parseChannel(text string) (string, error) {
	if text == "" {
		return "", errMissing
	}
	if !channelID.MatchString(text) {
		return "", fmt.Errorf("%q is not a channel id (open the channel's details in Slack and copy the id at the bottom)", text)
	}
	return text, nil
}

func parseURL(text string) (string, error) {
	if text == "" {
		return "", errMissing
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return "", fmt.Errorf("%q is not an http(s) address", text)
	}
	return text, nil
}

// parseDocsURL reads where the documentation's site is: an address below which the pages
// are, without what stands behind a page.
func parseDocsURL(text string) (string, error) {
	if text == "none" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("%q is neither %q nor an https address without a query", text, "none")
	}
	return strings.TrimSuffix(text, "/"), nil
}

func parseDuration(text string, least, most time.Duration) (time.Duration, error) {
	if text == "" {
		return 0, errMissing
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration like 90s, 5m or 2h", text)
	}
	if d < least || d > most {
		return 0, fmt.Errorf("%s is outside %s to %s", d, least, most)
	}
	return d, nil
}

// parseReminder reads a duration, or 0 for never.
func parseReminder(text string) (time.Duration, error) {
	if text == "0" {
		return 0, nil
	}
	return parseDuration(text, 5*time.Minute, 24*time.Hour)
}

// mostDays is the longest that evidence is kept.
const mostDays = 365

// parseDays reads for how many days evidence is kept; 0 is none.
func parseDays(text string) (int, error) {
	if text == "off" {
		return 0, nil
	}
	return parseNumber(text, 1, mostDays)
}

var errClock = errors.New(`want "<RFC 3339 time>,<wall clock nanoseconds>,<rate>" or "@<file>"`)

// parseHour reads an hour of the day.
func parseHour(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 23 {
		return 0, fmt.Errorf("%q is not an hour of the day (0 to 23)", text)
	}
	return n, nil
}
