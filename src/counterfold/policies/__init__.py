"""Policies: those that users give (`given`), and those that `learn` returns (`learned`)."""
