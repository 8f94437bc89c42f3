package cloudwatchlogs

import "testing"

func TestMatches(t *testing.T) {
	for pattern, want := range map[string]bool{
		"": true, "ERROR": true, `"gpu-a" ERROR`: true, "ERROR WARN": false, `?"gpu-b" ?"gpu-a"`: true, `?"gpu-b" ?"gpu-c"`: false, `"launch of"`: true, "?WARN": false, `ERROR ?"gpu-b"`: true,
	} {
		if got := Matches(pattern, "ERROR: the launch of gpu-a failed"); got != want {
			t.Errorf("%s: %v, want %v", pattern, got, want)
		}
	}
}
