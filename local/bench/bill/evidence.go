package bill

// The prices of S3 Standard for the first 50 TB, and of requests that write (its page
// "Pricing", November 2026). One that is refused, as there is an object already, is billed
// like one that writes.
const (
	gbMonth    = 0.023
	putRequest = 5.00 / 1e6
)

// Incidents are what a month has of them.
type Incidents struct {
	Opened int
	// Hours is how long each is open, and Days how long its evidence is kept.
	Hours float64
	Days  float64
	// Bytes are those of one object.
	Bytes float64
}

// Evidence is what a month of evidence costs at most: in each hour that an incident is open
// one object is written, and every look of the hour (there are twelve) asks for it again,
// each in a process of its own that knows nothing of the others. An object that is kept
// for other than 30 days is in storage for as many.
func Evidence(i Incidents) []Line {
	objects := float64(i.Opened) * i.Hours
	const looks = 12
	return []Line{
		{"S3: requests that write", objects * looks, putRequest, "one for each look at an open incident"},
		{"S3: GB-months", objects * i.Bytes / 1e9 * i.Days / 30, gbMonth, "one object for each hour of an incident"},
	}
}
