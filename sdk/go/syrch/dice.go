package syrch

import "math/bits"

// Dice are a seeded generator of random numbers (SplitMix64; Steele, Lea and Flood, OOPSLA 2014). Equal seeds give equal numbers on every machine
// and in every language.
type Dice struct{ state uint64 }

// NewDice returns a generator that starts from a seed, such as that of the run.
func NewDice(seed uint64) *Dice { return &Dice{seed} }

// Number returns the next number.
func (d *Dice) Number() uint64 {
	d.state += 0x9e3779b97f4a7c15
	value := d.state
	value = (value ^ value>>30) * 0xbf58476d1ce4e5b9
	value = (value ^ value>>27) * 0x94d049bb133111eb
	return value ^ value>>31
}

// Coin returns true or false, each half of the time.
func (d *Dice) Coin() bool { return d.Number()&1 == 1 }

// OneOf returns one of that many, from 0. A throw for one is none, so that it changes nothing later.
func (d *Dice) OneOf(sides int) int {
	if sides <= 1 {
		return 0
	}
	// The upper half of a product: fair enough for a few sides, and without a division (Lemire 2019).
	high, _ := bits.Mul64(d.Number(), uint64(sides))
	return int(high)
}
