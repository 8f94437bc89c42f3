// Package simclock is the time of the local stage, which may run faster than
// the clock on the wall.
//
// Stage time is a straight line through an anchor: at the wall time Wall the
// stage shows Stage, and from there it runs at Rate. Everything that happens
// on the stage (delays, schedules, visibility timeouts) is reckoned in stage
// time; only waiting turns it into wall time.
//
// Programs work in wall time however fast the stage is, and on a slow machine a
// look that takes a second would take two minutes of a stage that is 120 times as
// fast. A patient clock slows down while anybody works, and is fast only while all
// wait: what happens in which order then hangs far less on the machine.
package simclock

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

// EnvName is the environment variable that carries a clock to a process.
const EnvName = "ROLLCALL_STAGE_CLOCK"

// Clock is a stage clock. Make one with New, NewPatient, Parse or NewManual.
type Clock struct {
	stage   time.Time
	wall    time.Time
	rate    float64
	manual  *manual  // nil for a clock that runs
	patient *patient // nil for one that is a straight line
}

// New returns a clock that shows stage at the wall time wall and runs rate
// times as fast as the wall. A rate that is not positive becomes 1.
func New(stage, wall time.Time, rate float64) *Clock {
	if !(rate > 0) {
		rate = 1
	}
	return &Clock{stage: stage, wall: wall, rate: rate}
}

// Now returns the stage time.
func (c *Clock) Now() time.Time {
	if c.manual != nil {
		return c.manual.now()
	}
	return c.StageTime(time.Now())
}

// StageTime returns the stage time at a wall time; that of a patient clock is right from
// when work last began or ended.
func (c *Clock) StageTime(wall time.Time) time.Time {
	if c.patient != nil {
		return c.patient.stageTime(wall)
	}
	return c.stage.Add(time.Duration(float64(wall.Sub(c.wall)) * c.rate))
}

// Rate returns how many times as fast as the wall the stage runs, a patient one
// while no work is held.
func (c *Clock) Rate() float64 { return c.rate }

// Until returns how long the stage takes to reach t, in stage time.
func (c *Clock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

// Wall returns how long a span of stage time takes on the wall, rounded up so
// that who waits that long does not wake just before the moment. On a patient
// clock it takes longer if anybody works meanwhile.
func (c *Clock) Wall(stage time.Duration) time.Duration {
	return time.Duration(math.Ceil(float64(stage) / c.rate))
}

// Stage returns how far the stage gets in a span of wall time.
func (c *Clock) Stage(wall time.Duration) time.Duration {
	return time.Duration(float64(wall) * c.rate)
}

// Timer fires once when the stage has reached its time.
type Timer struct {
	// C receives the stage time at which the timer fired.
	C    <-chan time.Time
	stop func() bool
}

// Stop ends the timer; it tells if that was before it fired.
func (t *Timer) Stop() bool { return t.stop() }

// NewTimer returns a timer that fires after a span of stage time.
func (c *Clock) NewTimer(d time.Duration) *Timer {
	ch := make(chan time.Time, 1)
	if c.manual != nil {
		return &Timer{C: ch, stop: c.manual.add(d, ch)}
	}
	if c.patient != nil {
		return &Timer{C: ch, stop: c.patient.add(d, ch)}
	}
	t := time.AfterFunc(c.Wall(d), func() { ch <- c.Now() })
	return &Timer{C: ch, stop: t.Stop}
}

// After is the channel of a NewTimer that is never stopped.
func (c *Clock) After(d time.Duration) <-chan time.Time { return c.NewTimer(d).C }

// Sleep waits for a span of stage time or until the context ends, whose
// error it then returns.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if d <= 0 {
		return nil
	}
	t := c.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Env returns the clock as the value of EnvName: the stage time at the anchor
// (RFC 3339 with nanoseconds), the wall time at the anchor (Unix nanoseconds)
// and the rate, separated by commas. A function process that reads it shows
// the same time as the stage. That of a patient clock is "@" and the path of the
// file that follows it.
func (c *Clock) Env() string {
	if c.patient != nil {
		return "@" + c.patient.file.Name()
	}
	return fmt.Sprintf("%s,%d,%s", c.stage.UTC().Format(time.RFC3339Nano), c.wall.UnixNano(),
		strconv.FormatFloat(c.rate, 'g', -1, 64))
}

// NewManual returns a clock for tests: it shows start and stands still until
// Advance moves it.
func NewManual(start time.Time) *Clock {
	c := New(start, start, 1)
	c.manual = &manual{at: start}
	return c
}

// Advance moves a manual clock and fires the timers that have come due, in
// their order. It panics on a clock that runs by itself, which is a mistake
// in the test.
func (c *Clock) Advance(d time.Duration) {
	if c.manual == nil {
		panic("simclock: Advance on a running clock")
	}
	c.manual.advance(d)
}

// Waiting returns how many timers of a manual clock have not fired, so that
// a test can wait until the code under test has gone to sleep.
func (c *Clock) Waiting() int {
	if c.manual == nil {
		return 0
	}
	c.manual.mu.Lock()
	defer c.manual.mu.Unlock()
	return len(c.manual.timers)
}

type manual struct {
	mu     sync.Mutex
	at     time.Time
	timers []*manualTimer
}

type manualTimer struct {
	at time.Time
	ch chan<- time.Time
}

func (m *manual) now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.at
}

func (m *manual) add(d time.Duration, ch chan<- time.Time) (stop func() bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := &manualTimer{at: m.at.Add(d), ch: ch}
	if d <= 0 {
		ch <- m.at
		return func() bool { return false }
	}
	m.timers = append(m.timers, t)
	return func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.remove(t)
	}
}

func (m *manual) remove(t *manualTimer) bool {
	for i, have := range m.timers {
		if have == t {
			m.timers = append(m.timers[:i], m.timers[i+1:]...)
			return true
		}
	}
	return false
}

func (m *manual) advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	end := m.at.Add(d)
	for {
		var next *manualTimer
		for _, t := range m.timers {
			if !t.at.After(end) && (next == nil || t.at.Before(next.at)) {
				next = t
			}
		}
		if next == nil {
			break
		}
		m.at = next.at
		m.remove(next)
		next.ch <- m.at
	}
	m.at = end
}

// patient is a clock that slows down while anybody works.
type patient struct {
	rate, slow float64 // while no work is held, and while some is

	mu      sync.Mutex
	stage   time.Time // the anchor, moved whenever the pace changes
	wall    time.Time
	working int
	// next is the pace from when no work is held: those that work read the line of theirs.
	next   *[2]float64
	timers []*patientTimer // those that have not fired, in no order
	file   *os.File
	err    error // the first of the file
}

type patientTimer struct {
	at   time.Time
	ch   chan<- time.Time
	wake *time.Timer
}

// NewPatient returns a clock that shows stage at the wall time wall, and runs
// rate times as fast as the wall while no work is held, and slow times while some
// is. It publishes the time to other processes by a file at path, which it creates;
// Close removes it.
//
// Only those that work may read the file: it holds the line on which the time runs
// while anybody works.
func NewPatient(stage, wall time.Time, rate, slow float64, path string) (*Clock, error) {
	c := New(stage, wall, rate)
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("the stage clock's file: %w", err)
	}
	if !(slow > 0) {
		slow = 1
	}
	c.patient = &patient{rate: c.rate, slow: min(slow, c.rate), stage: stage, wall: wall, file: file}
	c.patient.publish()
	return c, c.patient.err
}

// Close removes the file of a patient clock; other clocks have nothing to close.
// The error is that of the first write that failed: from then on other processes
// had a wrong time.
func (c *Clock) Close() error {
	if c.patient == nil {
		return nil
	}
	p := c.patient
	p.mu.Lock()
	defer p.mu.Unlock()
	p.file.Close()
	if err := os.Remove(p.file.Name()); err != nil && p.err == nil {
		p.err = err
	}
	return p.err
}

// Work slows a patient clock down until the function that it returns is called
// for the first time. Other clocks take no notice.
func (c *Clock) Work() (done func()) {
	if c.patient == nil {
		return func() {}
	}
	c.patient.work(1)
	return sync.OnceFunc(func() { c.patient.work(-1) })
}

func (p *patient) work(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.working
	if p.working += n; (before > 0) == (p.working > 0) {
		return
	}
	// The line goes on from here with another slope.
	wall := time.Now()
	slope := p.rate
	if before > 0 {
		slope = p.slow
	}
	p.stage, p.wall = p.stage.Add(time.Duration(float64(wall.Sub(p.wall))*slope)), wall
	if p.working > 0 {
		p.publish()
	} else if p.next != nil {
		p.rate, p.slow, p.next = p.next[0], p.next[1], nil
	}
	for _, t := range p.timers {
		t.wake.Reset(p.until(t.at))
	}
}

// SetPace has a patient clock run rate times as fast as the wall while no work is held, and
// slow times while some is: from now on, or from when the last one has ended. Other
// clocks take no notice, and Rate stays what it was.
func (c *Clock) SetPace(rate, slow float64) {
	if c.patient == nil {
		return
	}
	p := c.patient
	p.mu.Lock()
	p.next = &[2]float64{rate, min(slow, rate)}
	p.mu.Unlock()
	c.Work()() // whose end applies it, if no other work is held
}

// pace is how many times as fast as the wall it runs now.
func (p *patient) pace() float64 {
	if p.working > 0 {
		return p.slow
	}
	return p.rate
}

func (p *patient) stageTime(wall time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.line(wall)
}

func (p *patient) line(wall time.Time) time.Time {
	return p.stage.Add(time.Duration(float64(wall.Sub(p.wall)) * p.pace()))
}

// until is how long it takes on the wall to reach t, if the pace stays.
func (p *patient) until(t time.Time) time.Duration {
	return max(time.Duration(float64(t.Sub(p.line(time.Now())))/p.pace()), 0)
}

// add is the timer that fires after d; stop reports whether that was before it fired.
func (p *patient) add(d time.Duration, ch chan<- time.Time) (stop func() bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := &patientTimer{at: p.line(time.Now()).Add(d), ch: ch}
	p.timers = append(p.timers, t)
	t.wake = time.AfterFunc(p.until(t.at), func() { p.fire(t) })
	return func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		t.wake.Stop()
		return p.remove(t)
	}
}

// fire fires a timer, unless it was stopped, or woke before its time because the
// pace changed as it did.
func (p *patient) fire(t *patientTimer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if left := p.until(t.at); left > 0 {
		t.wake.Reset(left)
		return
	}
	if p.remove(t) {
		t.ch <- p.line(time.Now()) // it has room for one
	}
}

func (p *patient) remove(t *patientTimer) bool {
	i := slices.Index(p.timers, t)
	if i < 0 {
		return false
	}
	p.timers = slices.Delete(p.timers, i, i+1)
	return true
}

// publish writes the line of those that work: the stage time and the wall time of the
// anchor, and the slope, of eight bytes each. It is written while no process reads it.
func (p *patient) publish() {
	var line [24]byte
	for i, v := range []uint64{uint64(p.stage.UnixNano()), uint64(p.wall.UnixNano()), math.Float64bits(p.slow)} {
		binary.LittleEndian.PutUint64(line[8*i:], v)
	}
	if _, err := p.file.WriteAt(line[:], 0); err != nil && p.err == nil {
		p.err = fmt.Errorf("write the stage clock's file: %w", err)
	}
}
