"""All plots."""

from lab.malice import connectors, parcels, rugs, scripts, words

PLOTS = (*words.PLOTS, *scripts.PLOTS, *connectors.PLOTS, *rugs.PLOTS, *parcels.PLOTS)
