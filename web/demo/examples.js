// What the demo asks for. `shown` are answers that the model sees before the question, as turns of the conversation: a model
// of 135M parameters is no good at following a description, but good at following an example, to the last space.
export const EXAMPLES = [
  {
    type: "City",
    prompt: "Tell me about Paris.",
    shown: [
      {
        prompt: "Tell me about Rome.",
        answer:
          '{"city": "Rome", "country": "Italy", "continent": "Europe", "known_for": "Its ancient ruins, fountains and ' +
          'churches.", "sights": ["Colosseum", "Trevi Fountain", "Pantheon"]}',
      },
    ],
  },
  {
    type: "Person",
    prompt: "Who was Albert Einstein?",
    shown: [
      {
        prompt: "Who was Isaac Newton?",
        answer:
          '{"name": "Isaac Newton", "born": 1643, "country": "England", "fields": ["physics", "mathematics"], ' +
          '"known_for": "The laws of motion and of gravity."}',
      },
    ],
  },
  {
    type: "Event",
    prompt: "Football with Sam, Kim and Lee on Sunday at 15:00 in the park.",
    shown: [
      {
        prompt: "Chess with Omar, Friday 18:00, at the library.",
        answer: '{"what": "Chess", "who": ["Omar"], "day": "Friday", "time": "18:00", "place": "The library"}',
      },
      {
        prompt: "Let's have dinner with Maya and Leo on Thursday at 19:30 in the Green Door.",
        answer:
          '{"what": "Dinner", "who": ["Maya", "Leo"], "day": "Thursday", "time": "19:30", "place": "The Green Door"}',
      },
    ],
  },
  {
    type: "Story",
    prompt: "Write a story about a dragon who is afraid of fire.",
    shown: [
      {
        prompt: "Write a story about a lost robot.",
        answer:
          '{"title": "The Robot Who Counted Stars", "genre": "science fiction", "characters": [{"name": "Pip", "role": ' +
          '"a small robot"}, {"name": "Nora", "role": "a girl who repairs radios"}], "opening": "On the night the rain ' +
          'stopped, Pip woke up in a field."}',
      },
    ],
    extra: { frequency_penalty: 0.4 },
  },
];

/** The conversation of one question: the answers that are shown, then the question. */
export function conversation({ shown }, prompt) {
  const turns = shown.flatMap((one) => [
    { role: "user", content: one.prompt },
    { role: "assistant", content: one.answer },
  ]);
  return [...turns, { role: "user", content: prompt }];
}
