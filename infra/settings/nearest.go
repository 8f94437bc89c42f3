package settings

import "strings"

// nearest is the known word that a misspelt one is most likely meant to be, or
// none if it is like none of them. Capitals do not count.
func nearest(word string, known []string) string {
	best, least := "", 0
	for _, k := range known {
		d := distance(strings.ToLower(word), strings.ToLower(k))
		// A third of the letters may be wrong: "joinTme", "cluster", "retentionDays" is too far.
		if most := max(1, len(k)/3); d <= most && (best == "" || d < least) {
			best, least = k, d
		}
	}
	return best
}

// distance is how many letters must be put in, taken out, changed, or swapped
// with the next one, to make b of a (optimal string alignment).
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	rows := make([][]int, len(from)+1)
	for i := range rows {
		rows[i] = make([]int, len(to)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(from); i++ {
		for j := 1; j <= len(to); j++ {
			cost := 1
			if from[i-1] == to[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(from)][len(to)]
}
