package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// CleanupMode is what eni-cleanup does with interfaces that are left behind.
type CleanupMode string

// The modes.
const (
	Report CleanupMode = "report"  // say so
	DryRun CleanupMode = "dry-run" // ask EC2 whether they could be deleted, with its own DryRun
	Delete CleanupMode = "delete"
)

// CleanupOf is the mode of a cluster.
func (c Config) CleanupOf(cluster string) CleanupMode {
	if mode, ok := c.Cleanups[cluster]; ok {
		return mode
	}
	return Report
}

// parseCleanup reads "report", or the modes of clusters by name. There is no way
// to have all clusters deleted in: each opts in.
func parseCleanup(text string) (map[string]CleanupMode, error) {
	if text == string(Report) {
		return nil, nil
	}
	modes := map[string]CleanupMode{}
	for pair := range strings.SplitSeq(text, ",") {
		cluster, mode, ok := strings.Cut(strings.TrimSpace(pair), "=")
		m := CleanupMode(mode)
		switch {
		case !ok:
			return nil, fmt.Errorf("%q is neither %q nor of the form cluster=mode", pair, Report)
		case !isCluster(cluster):
			return nil, fmt.Errorf("%q is not a cluster name", cluster)
		case m != Report && m != DryRun && m != Delete:
			return nil, fmt.Errorf("%q is not a mode: report, dry-run or delete", mode)
		}
		if known, twice := modes[cluster]; twice && known != m {
			return nil, fmt.Errorf("cluster %s has two modes, %s and %s", cluster, known, m)
		}
		modes[cluster] = m
	}
	return modes, nil
}

func parseNumber(text string, least, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%q is not a number from %d to %d", text, least, most)
	}
	return n, nil
}

func parseVPCs(text string) ([]string, error) {
	if text == "none" {
		return nil, nil
	}
	form := regexp.MustCompile(`^vpc-[0-9a-f]{8,17}$`)
	var ids []string
	for id := range strings.SplitSeq(text, ",") {
		id = strings.TrimSpace(id)
		if !form.MatchString(id) {
			return nil, fmt.Errorf("%q is not the id of a VPC", id)
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}
